"""A link is published before what it points to."""

import os

MARKER = {}
FAILS = {
    "os.symlink:exit+1:crash",
    "open:enter+1:crash",
    "open:exit+1:crash",
    "file.write:enter+1:crash",
}


def broken(link, target):
    os.symlink(target, link)
    target.write_text("page")


def correct(link, target):
    target.write_text("page")
    os.symlink(target, link)


def scenario(crashwindow, disk, program):
    link = disk / "current"
    crashwindow.run(program, link, disk / "page")
    assert not link.is_symlink() or (link.exists() and link.read_text() == "page")
