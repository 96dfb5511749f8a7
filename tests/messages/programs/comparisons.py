"""What is compared with the control, and what is told as state."""

import sys
import threading

import pytest

sweep = pytest.mark.crash_windows


def work(disk):
    (disk / "begun").touch()
    sys.audit("work.half")
    (disk / "done").touch()


@sweep("work.half")
def test_that_differs(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path)
    crashwindow.same_as_control(sorted(path.name for path in tmp_path.iterdir()), name="files")


@sweep("work.half")
def test_value_that_the_control_has_not(crashwindow, tmp_path):
    if crashwindow.run(work, tmp_path).crashed:
        crashwindow.same_as_control("repaired")


@sweep("work.half")
def test_value_that_can_not_be_kept(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path)
    crashwindow.same_as_control(threading.Lock())


@sweep
def test_state_that_is_too_much(crashwindow, tmp_path):
    crashwindow.state(tmp_path.parent)
