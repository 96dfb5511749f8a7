"""A full disk is noticed and survived, but what was there before is gone."""

import errno
import os

MARKER = {"error": {"file.write": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))}}
FAILS = {"file.write:enter+1:error"}


def broken(path):
    try:
        with open(path, "w", buffering=1) as file:
            file.write("new\n")
    except OSError:
        return "not saved"
    return "saved"


def correct(path):
    unfinished = path.with_suffix(".part")
    try:
        with open(unfinished, "w", buffering=1) as file:
            file.write("new\n")
    except OSError:
        unfinished.unlink()
        return "not saved"
    os.replace(unfinished, path)
    return "saved"


def scenario(crashwindow, disk, program):
    path = disk / "settings"
    path.write_text("old\n")
    saved = crashwindow.run(program, path).value == "saved"
    assert path.read_text() == ("new\n" if saved else "old\n")
    assert os.listdir(disk) == ["settings"]
