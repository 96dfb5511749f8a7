"""Slips of the pen that would otherwise do nothing, and what nobody looked at."""

# $ pytest slips.py -W ignore::pytest.PytestUnknownMarkWarning

import sqlite3
import subprocess

import pytest


def work(folder):
    (folder / "done").write_text("yes")


def failing(folder):
    work(folder)
    raise ValueError("no such order\nin any table")


def test_error_that_nobody_looked_at(crashwindow, tmp_path):
    crashwindow.run(failing, tmp_path)


@pytest.mark.crash_windows
def test_error_that_no_window_looked_at(crashwindow, tmp_path):
    crashwindow.supervise(failing, tmp_path)


def test_error_that_was_looked_at(crashwindow, tmp_path):
    assert crashwindow.run(failing, tmp_path).outcome == "raised"


def test_keyword_that_is_near_to_a_fault(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path, crashat="open")


def test_keyword_that_the_target_does_not_take(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path, color="red")


def test_function_that_was_called(crashwindow, tmp_path):
    crashwindow.supervise(work(tmp_path))


@pytest.mark.crash_window
def test_marker_that_is_near_to_one(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path)


@pytest.fixture
def database(tmp_path):
    return sqlite3.connect(tmp_path / "shop.db")


@pytest.mark.crash_windows
def test_connection_of_a_fixture(crashwindow, tmp_path, database):
    crashwindow.run(work, tmp_path)


@pytest.mark.crash_windows
def test_body_without_a_life(crashwindow, tmp_path):
    work(tmp_path)


@pytest.mark.crash_windows
def test_lives_without_a_point(crashwindow):
    crashwindow.run(len, ())


@pytest.mark.crash_windows
def test_program_of_its_own(crashwindow, tmp_path):
    crashwindow.supervise(subprocess.run, ["python", "-c", "print()"], check=True)
