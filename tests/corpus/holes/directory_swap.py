"""Two renames swap a directory; between them there is none."""

import os

MARKER = {}
FAILS = {"os.rename:exit+1:crash", "os.rename:enter+2:crash"}


def broken(disk):
    os.rename(disk / "site", disk / "site.old")
    os.rename(disk / "v2", disk / "site")


def correct(disk):
    os.symlink("v2", disk / "site.part")
    os.replace(disk / "site.part", disk / "site")


def scenario(crashwindow, disk, program):
    for version in ("v1", "v2"):
        (disk / version).mkdir()
        (disk / version / "page").write_text(version)
    (disk / "site").symlink_to("v1")
    crashwindow.run(program, disk)
    assert (disk / "site" / "page").read_text() in ("v1", "v2")
