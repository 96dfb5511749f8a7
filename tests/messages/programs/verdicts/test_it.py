"""Each verdict that a window can have."""

# $ pytest --crashwindow-life-timeout=3 --crashwindow-report=report.md
# $ cat report.md
# $ pytest -k 'passed or failed'

import os
import signal
import sys

import pytest


def work(disk):
    if (disk / "died").exists():
        os._exit(9)
    if (disk / "hung").exists():
        signal.pause()
    if (disk / "failed").exists():
        raise ValueError("recovery refuses")
    sys.audit("work.died")
    sys.audit("work.hung")
    sys.audit("work.failed")
    sys.audit("work.error")
    sys.audit("work.passed")


@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path)
    if crashwindow.window:
        (tmp_path / crashwindow.window.point.removeprefix("work.")).touch()
    if (tmp_path / "error").exists():
        os._exit(7)
    _ = crashwindow.run(work, tmp_path).value
