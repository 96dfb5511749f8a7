"""A restarted worker has the name of the stalled one, which therefore thinks that the lease is its own."""

import sys

from leases import finish, take, two_workers

MARKER = {"pause": "job.*"}
FAILS = {"job.computed+1:pause"}


def broken(path, clock, name, result):
    taken = take(path, clock, name) is not None
    if taken:
        sys.audit("job.computed")
        finish(path, result, "owner = ?", name)
    return taken


def correct(path, clock, name, result):
    generation = take(path, clock, name)
    if generation is not None:
        sys.audit("job.computed")
        finish(path, result, "owner = ? AND generation = ?", name, generation)
    return generation is not None


def scenario(crashwindow, disk, program):
    two_workers(crashwindow, disk, program, "worker", "worker")
