"""The state can't be made as it was after set-up, between two windows; for the one after it can."""

import sys

import pytest

from pytest_crashwindow.state import Snapshots


@pytest.fixture
def disk(tmp_path, monkeypatch):
    broken, restore = tmp_path.parent / "broken", Snapshots.restore

    def restore_or_fail(snapshots):
        if broken.exists():
            broken.unlink()
            raise OSError("disk on fire")
        restore(snapshots)

    monkeypatch.setattr(Snapshots, "restore", restore_or_fail)
    return broken


def work():
    sys.audit("work.begun")
    sys.audit("work.half")
    sys.audit("work.done")


@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, disk):
    if str(crashwindow.window) == "work.begun+1:crash":
        disk.touch()
    crashwindow.run(work)
