"""A generation that is computed from the current lease, and so starts again with each.

Models a fencing token that lives in the lease's row or key: once that has expired and been tidied
away, the next holder gets the number that the last one still believes in.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import sys
from pathlib import Path

from sample_app import db, events
from sample_app.jobs import LEASE, Claim

TWIN = "sample_app.jobs:claim"
HARM = "The stale worker's report is kept, the valid one refused."
FAILS_AT = (
    "sample_app.job.claimed+1:pause",
    "sample_app.job.computed+1:pause",
    "sample_app.job.recorded+1:pause",
)


def claim(home: Path, worker: str, now: float, lease: float = LEASE) -> Claim | None:
    with db.app(home) as conn:
        with db.transaction(conn):
            row = conn.execute(
                "SELECT * FROM jobs WHERE state = 'pending' OR state = 'running'"
                " AND lease_until <= ? ORDER BY job_id LIMIT 1",
                (now,),
            ).fetchone()
            if row is None:
                return None
            claimed = _take(conn, row, worker, now, lease)
            sys.audit("sample_app.job.before_claimed", row["job_id"])
        sys.audit("sample_app.job.claimed", row["job_id"])
    return claimed


def _take(conn: sqlite3.Connection, row: sqlite3.Row, worker: str, now: float, lease: float) -> Claim:
    lease_is_live = row["lease_until"] is not None and row["lease_until"] > now
    # The mistake: an expired lease takes its number with it.
    generation = row["generation"] + 1 if lease_is_live else 1
    conn.execute(
        "UPDATE jobs SET state = 'running', generation = ?, lease_owner = ?, lease_until = ? WHERE job_id = ?",
        (generation, worker, now + lease, row["job_id"]),
    )
    events.append(conn, row["job_id"], "job.claimed", now, new_generation=generation)
    payload = json.loads(row["payload"])
    attempt_id = secrets.token_hex(8)
    return Claim(row["job_id"], row["kind"], row["task_key"], payload, generation, attempt_id, 0)
