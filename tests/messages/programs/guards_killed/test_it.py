"""The process above the test body is killed from outside: while it runs, and between two windows."""

# $ pytest

import os
import signal
import sys

import pytest


def test_while_the_body_runs(crashwindow):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


@pytest.mark.crash_windows
def test_in_the_control(crashwindow):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


def work():
    sys.audit("work.begun")
    sys.audit("work.done")


@pytest.mark.crash_windows("work.*")
def test_between_windows(crashwindow):
    crashwindow.run(work)
