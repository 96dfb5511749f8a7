"""Whether the job is taken is looked up first, and written down afterwards."""

import os
import sys

MARKER = {"pause": "claim.*"}
FAILS = {"claim.checked+1:pause"}


def broken(claim, effects):
    if not claim.exists():
        sys.audit("claim.checked")
        claim.touch()
        effects.record("work", "done")


def correct(claim, effects):
    sys.audit("claim.checked")
    try:
        os.close(os.open(claim, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    effects.record("work", "done")


def scenario(crashwindow, disk, program):
    first = crashwindow.run(program, disk / "claim", crashwindow.effects)
    crashwindow.run(program, disk / "claim", crashwindow.effects)
    first.resume()
    assert crashwindow.effects.count("work") == 1
