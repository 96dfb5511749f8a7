"""A counter is read, raised and written back: what another wrote meanwhile is lost."""

import sys

from tools import replace

MARKER = {"pause": "counter.*"}
FAILS = {"counter.read+1:pause"}


def broken(directory):
    count = directory / "count"
    number = len(count.read_text()) if count.exists() else 0
    sys.audit("counter.read")
    replace(count, "|" * (number + 1))


def correct(directory):
    sys.audit("counter.read")
    with open(directory / "count", "ab", buffering=0) as file:
        file.write(b"|")


def scenario(crashwindow, disk, program):
    crashwindow.run(program, disk)
    crashwindow.run(program, disk)
    crashwindow.resume_all()
    assert (disk / "count").read_text() == "||"
