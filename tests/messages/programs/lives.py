"""What is asked of a life too early, too late, or in vain; and starting one in the wrong way."""

import signal
import sqlite3
import sys
import threading

import pytest

BEFORE = sqlite3.connect("before.db")
BEFORE.execute("CREATE TABLE jobs (n)")
BEFORE.close()


def work():
    sys.audit("work.begun")
    return "done"


# -- too early, too late -------------------------------------------------------------------------


def test_value_of_a_life_that_runs(crashwindow):
    _ = crashwindow.start(signal.pause, name="worker").value


def test_value_of_a_life_that_is_paused(crashwindow):
    _ = crashwindow.run(work, pause_at="work.begun").value


def test_value_of_a_life_that_crashed(crashwindow):
    _ = crashwindow.run(work, crash_at="work.begun").value


def test_value_of_a_life_that_was_killed(crashwindow):
    _ = crashwindow.start(signal.pause, name="worker").kill().value


def test_end_of_a_life_that_is_paused(crashwindow):
    crashwindow.run(work, pause_at="work.begun").wait()


def test_end_of_a_life_that_pauses_meanwhile(crashwindow):
    gate = threading.Event()
    life = crashwindow.start(work, pause_at="work.begun")
    look, life._look = life._look, gate.is_set  # it is looked at before it comes to its pause
    life._watch = lambda until: [look() for _ in iter(until, True)]
    life.wait()


def test_pause_of_a_life_that_returns(crashwindow):
    crashwindow.start(work).wait_paused()


# -- what can't come back ------------------------------------------------------------------------


class Refused(Exception):
    def __init__(self, order, why):
        super().__init__(f"{order}: {why}")


class Locked(Exception):
    def __init__(self):
        super().__init__("locked")
        self.lock = threading.Lock()


def raising(error):
    raise error


def test_error_of_a_life(crashwindow):
    _ = crashwindow.run(raising, ValueError("no such order")).value


def test_value_that_can_not_be_pickled(crashwindow):
    _ = crashwindow.run(threading.Lock, name="locking").value


def test_error_that_can_not_be_pickled(crashwindow):
    raise crashwindow.run(lambda: raising(Locked())).error


def test_error_that_can_not_be_rebuilt(crashwindow):
    raise crashwindow.run(lambda: raising(Refused("o-1", "sold out"))).error


class Parcel:
    def __reduce__(self):
        return int, ("a parcel",)


def test_value_that_can_not_be_rebuilt(crashwindow):
    _ = crashwindow.run(Parcel).value


# -- started in the wrong way --------------------------------------------------------------------


def test_a_target_that_is_called_already(crashwindow):
    crashwindow.run(work())


def test_a_misspelt_fault(crashwindow):
    crashwindow.run(work, crsh_at="work.begun")


def test_a_fault_that_does_not_exist(crashwindow):
    crashwindow.run(work, flood_at="work.begun")


def test_a_connection_that_is_open(crashwindow, tmp_path):
    shop = sqlite3.connect(tmp_path / "shop.db")
    shop.execute("CREATE TABLE orders (id)")
    try:
        crashwindow.run(work)
    finally:
        shop.close()


LEFT_OPEN = []


def test_that_leaves_a_connection_open():
    LEFT_OPEN.append(sqlite3.connect("before.db"))
    LEFT_OPEN[0].execute("SELECT * FROM jobs").fetchall()


@pytest.fixture
def closed_after():
    yield
    LEFT_OPEN[0].close()


def test_a_connection_from_before_the_test(closed_after, crashwindow):
    crashwindow.run(work)


def test_a_comparison_outside_sweeps(crashwindow):
    crashwindow.same_as_control(work())
