"""Recovery that is itself cut short can't be started again: found only by a crash during recovery."""

import os
import shutil
import sys

MARKER = {"crash": "save.*", "depth": 2}
FAILS = {
    "save.opened+1:crash/save.removed+1:crash",
    "save.written+1:crash/save.removed+1:crash",
    "save.kept+1:crash/save.removed+1:crash",
}


def save(data, backup):
    shutil.copy(data, backup.with_suffix(".part"))
    os.replace(backup.with_suffix(".part"), backup)
    sys.audit("save.kept")
    with open(data, "w") as file:
        sys.audit("save.opened")
        file.write(backup.read_text() + "new")
    sys.audit("save.written")
    os.remove(backup)


def broken(data, backup):
    if backup.exists() and data.exists():
        os.remove(data)
        sys.audit("save.removed")
        os.rename(backup, data)
    data.touch()
    save(data, backup)


def correct(data, backup):
    if backup.exists():
        data.unlink(missing_ok=True)
        sys.audit("save.removed")
        os.rename(backup, data)
    save(data, backup)


def scenario(crashwindow, disk, program):
    data = disk / "data"
    data.write_text("old, ")
    crashwindow.supervise(program, data, disk / "backup")
    assert data.read_text() == "old, new"
