"""Jobs that were given up: kept with their reason until a person decides."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

from . import db, jobs
from .errors import Refused
from .moves import move


def bury(conn: sqlite3.Connection, job_id: int, generation: int, reason: str, now: float) -> bool:
    """Give a job up, inside the caller's transaction. False = it isn't this generation's any more.

    The letter is written in the transaction that takes the job out of the queue.
    """
    if not move(conn, job_id, "gave_up", now, generation=generation, reason=reason):
        return False
    row = jobs.get_in(conn, job_id)
    conn.execute(
        "INSERT INTO dead_letters VALUES (?, ?, ?, ?, ?)",
        (job_id, reason, row["last_error"], row["payload"], now),
    )
    return True


def letters(home: Path) -> list[sqlite3.Row]:
    with db.app(home) as conn:
        return conn.execute("SELECT * FROM dead_letters ORDER BY job_id").fetchall()


def requeue(home: Path, job_id: int, now: float) -> None:
    """An operator's act: put the job back, with a fresh budget.

    First back into the queue, then out of the letters, and both in one transaction: a job must
    never be in neither.
    """
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            if not move(conn, job_id, "requeued", now, generation=row["generation"]):
                raise Refused(f"job {job_id} is {row['state']}, not dead; it is not requeued")
            conn.execute(
                "UPDATE jobs SET failures = 0, not_before = 0, claim_limit = generation + ? WHERE job_id = ?",
                (jobs.CLAIM_LIMIT, job_id),
            )
            sys.audit("sample_app.dead_letter.requeued", job_id)
            conn.execute("DELETE FROM dead_letters WHERE job_id = ?", (job_id,))
            sys.audit("sample_app.dead_letter.before_commit", job_id)
        sys.audit("sample_app.dead_letter.committed", job_id)
