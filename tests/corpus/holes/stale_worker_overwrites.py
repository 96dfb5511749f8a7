"""A worker wakes up after its lease and overwrites the result of the one that took over."""

import sys

from leases import finish, take, two_workers

MARKER = {"pause": "job.*"}
FAILS = {"job.computed+1:pause"}


def broken(path, clock, name, result):
    generation = take(path, clock, name)
    if generation is not None:
        sys.audit("job.computed")
        finish(path, result)
    return generation is not None


def correct(path, clock, name, result):
    generation = take(path, clock, name)
    if generation is not None:
        sys.audit("job.computed")
        finish(path, result, "generation = ?", generation)
    return generation is not None


def scenario(crashwindow, disk, program):
    two_workers(crashwindow, disk, program)
