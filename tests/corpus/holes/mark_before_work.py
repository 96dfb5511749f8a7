"""The mark says done before the work is done: a death in between loses the work."""

from tools import send_once

MARKER = {}
FAILS = {"open:exit+1:crash"}


def broken(mark, effects):
    if not mark.exists():
        mark.touch()
        effects.record("mail", "o-1")


def correct(mark, effects):
    if not mark.exists():
        send_once(effects, "o-1")
        mark.touch()


def scenario(crashwindow, disk, program):
    crashwindow.supervise(program, disk / "done", crashwindow.effects)
    assert crashwindow.effects.keys("mail") == ["o-1"]
