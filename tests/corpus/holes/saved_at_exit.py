"""What is saved by an exit handler isn't saved by a process that is killed."""

import atexit
import sys

MARKER = {}
FAILS = {"visit.counted+1:crash", "open:enter+1:crash", "open:exit+1:crash", "file.write:enter+1:crash"}


def broken(path, effects):
    atexit.register(path.write_text, "1")
    effects.record("welcome", "visitor")
    sys.audit("visit.counted")


def correct(path, effects):
    path.write_text("1")
    effects.record("welcome", "visitor")
    sys.audit("visit.counted")


def scenario(crashwindow, disk, program):
    crashwindow.run(program, disk / "visits", crashwindow.effects)
    counted = (disk / "visits").exists() and (disk / "visits").read_text() == "1"
    assert counted or not crashwindow.effects.count("welcome")
