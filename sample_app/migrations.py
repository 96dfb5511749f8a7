"""Bringing app.db to the version of this code: each step whole, or not at all.

Version 1 kept an amount without its currency. Where the original request tells it, it's filled in;
where it doesn't, nobody may guess: what isn't finished yet needs information, and an approval of
that amount has to be given anew. Operation ids, confirmed tickets, approval versions and the
versions with which a job started are left as they are.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

from . import approvals, db
from .errors import WrongSchema
from .moves import move


def migrate(home: Path, now: float) -> int:
    """Migrate app.db if it's old; returns the version it had. May be repeated."""
    path = db.path_of(home, "app")
    with db.connect(path) as conn:
        with db.transaction(conn):
            found = db.version_of(conn)
            if not 1 <= found <= db.VERSIONS["app"]:
                raise WrongSchema(f"schema version {found} cannot be migrated: {path}")
            if found == 1:
                _add_currency(conn, now)
                conn.execute("PRAGMA user_version = 2")
            sys.audit("sample_app.migration.before_commit", found)
        sys.audit("sample_app.migration.committed", found)
    return found


def schema_v1() -> str:
    """What version 1 looked like: the same, without the currency."""
    lines = db.schema("app").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("  currency "))


def currency_in(request: dict[str, Any]) -> str | None:
    """The currency that a request tells, as a field or beside an amount in its text."""
    told = request.get("currency")
    if isinstance(told, str):
        return told
    found = re.search(r"\b\d[\d.,]* ?([A-Z]{3})\b", str(request.get("text", "")))
    return found[1] if found else None


def _add_currency(conn: sqlite3.Connection, now: float) -> None:
    conn.execute("ALTER TABLE jobs ADD COLUMN currency TEXT")
    sys.audit("sample_app.migration.altered", 1)
    rows = conn.execute("SELECT * FROM jobs WHERE amount IS NOT NULL ORDER BY job_id").fetchall()
    for row in rows:
        _migrate_job(conn, row, now)
        sys.audit("sample_app.migration.job_migrated", row["job_id"])


def _migrate_job(conn: sqlite3.Connection, row: sqlite3.Row, now: float) -> None:
    currency = currency_in(json.loads(row["payload"]))
    if currency is not None:
        conn.execute("UPDATE jobs SET currency = ? WHERE job_id = ?", (currency, row["job_id"]))
        return
    why = "the request does not tell the currency"
    move(conn, row["job_id"], "lacks_info", now, generation=row["generation"], why=why)
    approvals.supersede(conn, row["job_id"], why, now)
