"""A backup that copies the database's main file.

Models `cp app.db backup/`. What was committed since the last checkpoint is in the WAL, and after a
death nobody has checkpointed it: the copy opens without complaint and lacks the last commits.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sample_app import backup as correct
from sample_app import db

TWIN = "sample_app.backup:backup"
HARM = "The restored backup lacks the last reports, and nothing says so."
# Wherever a process died with a commit in the WAL.
FAILS_AT = (
    "sample_app.job.claimed+1:crash",
    "sample_app.job.recorded+1:crash",
    "sample_app.job.committed+1:crash",
)


def backup(home: Path, target: Path) -> dict[str, int]:
    # The mistake: this is one of up to three files, and not a consistent one.
    shutil.copyfile(db.path_of(home, "app"), target)
    sys.audit("sample_app.backup.copied", str(target))
    return correct.verify(target)
