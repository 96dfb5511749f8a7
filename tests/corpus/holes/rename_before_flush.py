"""A new file takes the place of the old one while its content is still in a buffer."""

import os

from tools import replace

MARKER = {}
FAILS = {"os.replace:exit+1:crash", "file.write:enter+1:crash"}


def broken(path):
    with open(path.with_suffix(".part"), "w") as file:
        file.write("new")
        os.replace(file.name, path)


def correct(path):
    replace(path, "new")


def scenario(crashwindow, disk, program):
    settings = disk / "settings"
    settings.write_text("old")
    crashwindow.run(program, settings)
    assert settings.read_text() in ("old", "new")
