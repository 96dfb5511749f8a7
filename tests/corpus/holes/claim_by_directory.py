"""A directory claims the job; of a dead owner the claim stays, and the job is never done."""

import os

MARKER = {}
FAILS = {
    "os.mkdir:exit+1:crash",
    "open:enter+1:crash",
    "open:exit+1:crash",
    "file.write:enter+1:crash",
}


def broken(job):
    try:
        os.mkdir(job)
    except FileExistsError:
        return
    (job / "result").write_text("done")


def correct(job):
    os.makedirs(job, exist_ok=True)
    (job / "result").write_text("done")


def scenario(crashwindow, disk, program):
    crashwindow.supervise(program, disk / "job")
    assert (disk / "job" / "result").read_text() == "done"
