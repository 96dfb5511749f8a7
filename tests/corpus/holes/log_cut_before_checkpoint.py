"""The log is emptied before its content is safe in the checkpoint."""

import os

from tools import replace

MARKER = {}
FAILS = {
    "os.truncate:exit+1:crash",
    "open:enter+1:crash",
    "open:exit+1:crash",
    "file.write:enter+1:crash",
    "file.write:exit+1:crash",
    "os.fsync:enter+1:crash",
    "os.fsync:exit+1:crash",
    "os.replace:enter+1:crash",
}


def broken(log, checkpoint):
    entries = log.read_text()
    os.truncate(log, 0)
    replace(checkpoint, entries)


def correct(log, checkpoint):
    replace(checkpoint, log.read_text())
    os.truncate(log, 0)


def scenario(crashwindow, disk, program):
    log, checkpoint = disk / "log", disk / "checkpoint"
    log.write_text("entry")
    checkpoint.touch()
    crashwindow.run(program, log, checkpoint)
    assert "entry" in (log.read_text(), checkpoint.read_text())
