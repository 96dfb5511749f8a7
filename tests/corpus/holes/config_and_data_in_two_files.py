"""Two files belong together and are replaced one after the other."""

import json
import os

from tools import replace

MARKER = {}
FAILS = {
    "os.replace:exit+1:crash",
    "open:enter+2:crash",
    "open:exit+2:crash",
    "file.write:enter+2:crash",
    "file.write:exit+2:crash",
    "os.fsync:enter+2:crash",
    "os.fsync:exit+2:crash",
    "os.replace:enter+2:crash",
}


def broken(disk):
    replace(disk / "format", "2")
    replace(disk / "data", "[2]")


def correct(disk):
    os.makedirs(disk / "v2", exist_ok=True)
    (disk / "v2" / "format").write_text("2")
    (disk / "v2" / "data").write_text("[2]")
    replace(disk / "current", "v2")


def scenario(crashwindow, disk, program):
    for file, text in {"format": "1", "data": "[1]"}.items():
        (disk / file).write_text(text)
    crashwindow.run(program, disk)
    current = disk / "current"
    place = disk / current.read_text() if current.exists() else disk
    assert json.loads((place / "data").read_text()) == [int((place / "format").read_text())]
