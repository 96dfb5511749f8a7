"""A file is rewritten in place: a death in the middle leaves it empty."""

from tools import replace

MARKER = {}
FAILS = {"open:exit+1:crash", "file.write:enter+1:crash"}


def broken(path):
    path.write_text("new")


def correct(path):
    replace(path, "new")


def scenario(crashwindow, disk, program):
    settings = disk / "settings"
    settings.write_text("old")
    crashwindow.run(program, settings)
    assert settings.read_text() in ("old", "new")
