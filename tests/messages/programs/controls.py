"""Sweeps whose run without a fault makes no sweep possible, and notes on those where it does."""

import sys
from pathlib import Path

import pytest

OUTSIDE = Path("runs")  # below no state directory: what is there stays from run to run
sweep = pytest.mark.crash_windows


def work():
    sys.audit("work.begun")
    sys.audit("work.done")


def first_time(name):
    OUTSIDE.mkdir(exist_ok=True)
    first = not (OUTSIDE / name).exists()
    (OUTSIDE / name).touch()
    return first


@sweep("work.*")
def test_control_that_fails(crashwindow):
    assert crashwindow.run(work).crashed


@sweep("work.*")
def test_control_that_fails_the_second_time(crashwindow):
    crashwindow.run(work)
    assert first_time("fails")


def ticking(name):
    for _ in range(1 if first_time(name) else 3):
        sys.audit("work.ticked")


@sweep("work.*")
def test_control_that_is_not_steady(crashwindow):
    crashwindow.run(ticking, "ticks")


def skipping(name):
    if first_time(name):
        sys.audit("work.skipped")
    sys.audit("work.done")


@sweep("work.*")
def test_control_that_leaves_a_point_out(crashwindow):
    crashwindow.run(skipping, "skips")


@sweep
def test_no_life(crashwindow):
    work()


@sweep("shop.*")
def test_no_point_of_those_asked_for(crashwindow):
    crashwindow.run(work)


@sweep("work.bgun")
def test_misspelt_point(crashwindow):
    crashwindow.run(work)


@sweep("elsewhere")
def test_unknown_point(crashwindow):
    crashwindow.run(work)


@sweep(["work.*", "!work.begin"])
def test_misspelt_exclusion(crashwindow):
    crashwindow.run(work)


def in_any_order():
    for end in ["begun", "done"] if first_time("order") else ["done", "begun"]:
        sys.audit(f"work.{end}")


@sweep("work.*")
def test_note_on_the_order(crashwindow):
    crashwindow.run(in_any_order)


def refund():
    sys.audit("work.refunded")


@sweep(["work.begun", "work.refunded"], lost_ack="work.*", duplicate="work.begun")
def test_notes_on_what_is_not_tried(crashwindow):
    crashwindow.run(work)
