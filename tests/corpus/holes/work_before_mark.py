"""The work is done before the mark, and nobody notices that it was done already."""

from tools import send, send_once

MARKER = {}
FAILS = {"open:enter+1:crash"}


def run(mark, effects, send):
    if not mark.exists():
        send(effects, "o-1")
        mark.touch()


def broken(mark, effects):
    run(mark, effects, send)


def correct(mark, effects):
    run(mark, effects, send_once)


def scenario(crashwindow, disk, program):
    crashwindow.supervise(program, disk / "done", crashwindow.effects)
    assert crashwindow.effects.keys("mail") == ["o-1"]
