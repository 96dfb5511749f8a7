"""The reaper: looks after jobs whose holder's lease ran out.

Workers take such jobs over by themselves. The reaper gives up those that have outlived too many
workers, and puts the others back so that they are seen to be waiting.
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from . import db, dead_letters
from .clocks import check_not_backwards
from .moves import move


def reap(home: Path, now: float) -> list[int]:
    """Release or give up expired jobs; returns those that were changed."""
    return [row["job_id"] for row in expired(home, now) if _reap_one(home, row, now)]


def expired(home: Path, now: float) -> list[sqlite3.Row]:
    with db.app(home) as conn:
        return conn.execute(
            "SELECT * FROM jobs WHERE state = 'running' AND lease_until <= ? ORDER BY job_id",
            (now,),
        ).fetchall()


def _reap_one(home: Path, seen: sqlite3.Row, now: float) -> bool:
    job_id, generation = seen["job_id"], seen["generation"]
    sys.audit("sample_app.reaper.seen", job_id)
    with db.app(home) as conn:
        with db.transaction(conn):
            check_not_backwards(conn, now)
            # Since it was seen, a heartbeat or another worker may have come.
            if not _still_expired(conn, job_id, generation, now):
                return False
            if generation >= seen["claim_limit"]:
                dead_letters.bury(conn, job_id, generation, f"claimed {generation} times", now)
            else:
                move(conn, job_id, "released", now, generation=generation)
            sys.audit("sample_app.reaper.before_commit", job_id)
        sys.audit("sample_app.reaper.committed", job_id)
    return True


def _still_expired(conn: sqlite3.Connection, job_id: int, generation: int, now: float) -> bool:
    row = conn.execute(
        "SELECT 1 FROM jobs WHERE job_id = ? AND generation = ? AND state = 'running' AND lease_until <= ?",
        (job_id, generation, now),
    ).fetchone()
    return row is not None
