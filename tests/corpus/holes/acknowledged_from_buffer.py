"""A message is acknowledged while it lies in a buffer of the process."""

import sys

MARKER = {}
FAILS = {"message.acknowledged+1:crash", "file.write:enter+1:crash"}


def receive(log, effects, buffering):
    with open(log, "a", buffering=buffering) as file:
        file.write("m-1\n")
        effects.record("acknowledged", "m-1")
        sys.audit("message.acknowledged")


def broken(log, effects):
    receive(log, effects, -1)


def correct(log, effects):
    receive(log, effects, 1)


def scenario(crashwindow, disk, program):
    log = disk / "log"
    log.touch()
    crashwindow.run(program, log, crashwindow.effects)
    assert set(crashwindow.effects.keys("acknowledged")) <= set(log.read_text().split())
