"""The old place is cleared before the new one is filled."""

import os

from tools import replace

MARKER = {}
FAILS = {
    "os.remove:exit+1:crash",
    "open:enter+1:crash",
    "open:exit+1:crash",
    "file.write:enter+1:crash",
}


def broken(source, target):
    text = source.read_text()
    os.remove(source)
    target.write_text(text)


def correct(source, target):
    replace(target, source.read_text())
    os.remove(source)


def scenario(crashwindow, disk, program):
    source, target = disk / "inbox", disk / "archive"
    source.write_text("letter")
    crashwindow.run(program, source, target)
    assert "letter" in [path.read_text() for path in (source, target) if path.exists()]
