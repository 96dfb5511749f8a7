"""The owner of a lease is checked before the write and not with it."""

import sys

from leases import finish, take, two_workers
from tools import rows

MARKER = {"pause": "job.*"}
FAILS = {"job.checked+1:pause"}


def broken(path, clock, name, result):
    if take(path, clock, name) is None:
        return False
    sys.audit("job.computed")
    if rows(path, "SELECT owner FROM job") == [name]:
        sys.audit("job.checked")
        finish(path, result)
    return True


def correct(path, clock, name, result):
    generation = take(path, clock, name)
    if generation is None:
        return False
    sys.audit("job.computed")
    sys.audit("job.checked")
    finish(path, result, "generation = ?", generation)
    return True


def scenario(crashwindow, disk, program):
    two_workers(crashwindow, disk, program)
