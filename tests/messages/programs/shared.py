"""Sweeps that several workers share. The worker that doesn't have the test itself is `another worker`."""

# $ pytest shared.py -p xdist -n2 -k dies | grep -E '^w|the worker' | sed 's/gw./gw/; s/work\.[0-9]/work.N/'
# $ pytest shared.py -p xdist -n2 -k set_up | grep -A2 '^on another'
# $ pytest shared.py -p xdist -n2 -x -k stops | grep 'another worker'

import os
import signal
import sys
import time

import pytest

sweep = pytest.mark.crash_windows("work.*")


def work():
    for n in range(6):
        sys.audit(f"work.{n}")


@pytest.fixture
def another(request):
    """Whether this is another worker than the one that has the test itself."""
    return "~" in request.node.nodeid


@pytest.fixture
def wait_for(tmp_path_factory):
    """Wait for files in the directory that workers share."""

    def wait_for(name, count=1):
        while len(list(tmp_path_factory.getbasetemp().parent.glob(f"crashwindow-*/{name}"))) < count:
            time.sleep(0.01)

    return wait_for


@pytest.fixture
def worker():
    return os.getpid()


@sweep
def test_worker_that_dies(crashwindow, another, worker, wait_for):
    crashwindow.run(work)
    if crashwindow.window:
        wait_for("*/*.claim", 2)  # each worker has one
        if another:
            os.kill(worker, signal.SIGKILL)
            signal.pause()


@pytest.fixture
def database(another, wait_for):
    assert not another, "no database here"


@sweep
def test_worker_that_can_not_set_up(crashwindow, another, database, wait_for):
    crashwindow.run(work)
    wait_for("*/*.note")


@sweep
def test_worker_that_stops_the_others(crashwindow, another, wait_for):
    crashwindow.run(work)
    if crashwindow.window:
        wait_for("*/*.claim", 2)
        assert not another
        wait_for("stop")
