"""Lives that die, and nobody knows why; or too often."""

import os
import signal
import sys

import pytest


def end(how):
    sys.audit("work.begun")
    how()


def test_killed_from_outside(crashwindow):
    crashwindow.run(end, lambda: os.kill(os.getpid(), signal.SIGKILL))


def test_segmentation_fault(crashwindow):
    crashwindow.run(end, lambda: os.kill(os.getpid(), signal.SIGSEGV))


def test_exit_without_an_end(crashwindow):
    crashwindow.run(lambda: os._exit(3), name="worker")


@pytest.fixture
def broker(crashwindow):
    """Dies in a fixture, where the test body doesn't see it."""
    life = crashwindow.start(lambda: os._exit(4), name="broker")
    while not life.over:
        pass
    return life


def test_death_in_a_fixture(broker):
    pass


# -- a fault that can't act ----------------------------------------------------------------------

TEXT = "no exception"


class Picky(Exception):
    def __init__(self, order, why):
        super().__init__(order, why)


def passing():
    sys.audit("work.begun")


@pytest.mark.error_at("work.begun", "nowhere:Error")
def test_exception_that_can_not_be_imported(crashwindow):
    crashwindow.run(passing)


@pytest.mark.error_at("work.begun", "deaths:TEXT")
def test_exception_that_is_text(crashwindow):
    crashwindow.run(passing)


@pytest.mark.error_at("work.begun", Picky)
def test_exception_that_wants_arguments(crashwindow):
    crashwindow.run(passing)


def closing():
    os.closerange(3, 4096)
    sys.audit("work.begun")


@pytest.mark.pause_at("work.begun", scope="thread")
def test_thread_that_can_not_be_held(crashwindow):
    crashwindow.run(closing)


# -- again and again -----------------------------------------------------------------------------


@pytest.mark.crash_at("work.begun", nth=1)
@pytest.mark.crash_at("work.begun", nth=2)
def test_death_in_every_life(crashwindow):
    crashwindow.supervise(passing, max_lives=2)


def test_killed_in_every_life(crashwindow):
    start = crashwindow._start
    crashwindow._start = lambda *given: start(*given).kill()
    crashwindow.supervise(signal.pause, max_lives=2)
