"""A backup that is whole, taken while others write; and a look whether it is any good."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from pathlib import Path

from . import db
from .durable import sync
from .errors import AppError, DatabaseMissing, explain

TABLES = ("jobs", "reports", "outbox", "events", "intents", "approvals")


class BadBackup(AppError):
    """The copy is damaged or contradicts itself."""


def backup(home: Path, target: Path) -> dict[str, int]:
    """Copy app.db to `target` and verify the copy; an earlier one is replaced only by a good one.

    Copying the file would miss what is still in the WAL. SQLite's backup API reads one consistent
    state, and needn't stop the writers.
    """
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    _copy(home, part)
    sys.audit("sample_app.backup.copied", str(target))
    counts = verify(part)
    _replace(part, target)
    sys.audit("sample_app.backup.replaced", str(target))
    return counts


def verify(path: Path) -> dict[str, int]:
    """Check a copy as a whole, and that its tables agree; returns the number of rows of each."""
    if not path.exists():
        raise DatabaseMissing(f"no backup at {path}")
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as conn:
            return _checked(conn, path)
    except sqlite3.OperationalError as error:
        raise explain(error, path) from error
    except sqlite3.DatabaseError as error:
        raise BadBackup(f"damaged backup ({error}): {path}") from error


def _copy(home: Path, part: Path) -> None:
    with db.app(home) as source, contextlib.closing(sqlite3.connect(part)) as copy:
        source.backup(copy)
        # One file, that may be moved and opened read-only: no -wal and -shm beside it.
        copy.execute("PRAGMA journal_mode = DELETE")


def _replace(part: Path, target: Path) -> None:
    # The content has to be on the disk before the name points to it, then the name itself.
    sync(part)
    os.replace(part, target)
    sync(target.parent)


def _checked(conn: sqlite3.Connection, path: Path) -> dict[str, int]:
    found = [row[0] for row in conn.execute("PRAGMA integrity_check")]
    if found != ["ok"]:
        raise BadBackup(f"damaged backup ({found[0]}): {path}")
    if conn.execute("PRAGMA foreign_key_check").fetchone():
        raise BadBackup(f"backup with rows whose job is missing: {path}")
    lacking = conn.execute(
        "SELECT count(*) FROM jobs WHERE state = 'done' AND kind = 'report'"
        " AND job_id NOT IN (SELECT job_id FROM reports)"
    ).fetchone()[0]
    if lacking:
        raise BadBackup(f"backup with {lacking} finished jobs without a report: {path}")
    return {table: conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}
