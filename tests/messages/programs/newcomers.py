"""What people try at first."""

import sqlite3
import sys
import time

import pytest


def place(order, send):
    sys.audit("shop.placed", order)
    send(order)


@pytest.mark.crash_windows("shop.*")
def test_a_list_in_memory(crashwindow):
    sent = []
    crashwindow.supervise(place, "o-1", sent.append)
    assert sent == ["o-1"]


def test_a_list_in_memory_without_a_sweep(crashwindow):
    sent = []
    crashwindow.run(place, "o-1", sent.append)
    assert sent == ["o-1"]


@pytest.mark.crash_windows
def test_a_forgotten_argument(crashwindow):
    crashwindow.run(place, "o-1")


def counts(number):
    for _ in range(number):
        sys.audit("shop.counted")
    time.sleep(600)


@pytest.mark.crash_windows
def test_a_life_that_passes_nothing_and_runs_on(crashwindow):
    crashwindow.start(counts, 0)


@pytest.mark.crash_windows("shop.placed", calls=[place])
def test_a_call_that_is_no_name(crashwindow):
    crashwindow.run(place, "o-1", print)


@pytest.mark.crash_windows("shop.placed", error=OSError)
def test_an_error_without_a_point(crashwindow):
    crashwindow.run(place, "o-1", print)


@pytest.mark.crash_windows("shop.placed", lost_ack=TimeoutError)
def test_a_lost_answer_without_a_point(crashwindow):
    crashwindow.run(place, "o-1", print)


@pytest.mark.error_at("sqlite3.commit", "sqlite3:OperationalEror")
def test_a_misspelt_exception(crashwindow):
    assert sqlite3


@pytest.mark.crash_windows
def test_the_project_as_state(crashwindow):
    crashwindow.state(".")


@pytest.fixture
def second(tmp_path_factory):
    return tmp_path_factory.getbasetemp() / "second"


@pytest.mark.crash_windows("shop.counted")
def test_a_life_that_nobody_waits_for(crashwindow, second):
    number = 1 if second.exists() else 3
    life = crashwindow.start(counts, number)
    while len(life.hits) < number:
        time.sleep(0.01)
    second.touch()
