"""A lock that is a file outlives its owner: nobody ever works again."""

import fcntl
import os
import sys

MARKER = {}
FAILS = {f"{point}+{n}:crash" for point in ("open:exit", "batch.done", "os.remove:enter") for n in (1, 2)}


def broken(lock, effects):
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "already running"
    effects.record("batch", "run")
    sys.audit("batch.done")
    os.remove(lock)
    return "ran"


def correct(lock, effects):
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        effects.record("batch", "run")
        sys.audit("batch.done")
    return "ran"


def scenario(crashwindow, disk, program):
    crashwindow.supervise(program, disk / "lock", crashwindow.effects)
    assert crashwindow.supervise(program, disk / "lock", crashwindow.effects).value == "ran"
