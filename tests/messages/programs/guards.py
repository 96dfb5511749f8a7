"""The process above the test body is killed from outside."""

import os
import signal

import pytest


def test_guard_that_is_killed(crashwindow):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()


@pytest.mark.crash_windows
def test_guard_of_a_sweep_that_is_killed(crashwindow):
    os.kill(os.getppid(), signal.SIGKILL)
    signal.pause()
