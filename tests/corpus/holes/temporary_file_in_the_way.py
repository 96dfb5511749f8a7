"""A temporary file with a fixed name is made anew each time: what a dead process left is in the way."""

import os

MARKER = {}
FAILS = {
    "open:exit+1:crash",
    "file.write:enter+1:crash",
    "file.write:exit+1:crash",
    "os.replace:enter+1:crash",
}


def save(path, mode):
    with open(path.with_suffix(".part"), mode) as file:
        file.write("new")
    os.replace(file.name, path)


def broken(path):
    save(path, "x")


def correct(path):
    save(path, "w")


def scenario(crashwindow, disk, program):
    _ = crashwindow.supervise(program, disk / "settings").value
    assert (disk / "settings").read_text() == "new"
