"""A job is started as a process before it is written down that it was: after a death it is started again."""

import os
import subprocess

MARKER = {}
FAILS = {"subprocess.Popen:exit+1:crash", "open:enter+1:crash"}


def run(disk, alive, script):
    if not (disk / "started").exists():
        subprocess.Popen(["/bin/sh", "-c", script], cwd=disk, pass_fds=[alive]).wait()
        (disk / "started").touch()


def broken(disk, alive):
    run(disk, alive, "echo report >> reports")


def correct(disk, alive):
    run(disk, alive, "mkdir claim 2> /dev/null && echo report >> reports")


def scenario(crashwindow, disk, program):
    ended, alive = os.pipe()
    crashwindow.supervise(program, disk, alive)
    os.close(alive)
    os.read(ended, 1)  # ends when every process that was started has ended
    assert (disk / "reports").read_text() == "report\n"
