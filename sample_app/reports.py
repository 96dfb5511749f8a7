"""The report of a job: computed outside any transaction, committed in one short one.

`finish` writes the job's result, the report, the outbox event and the domain event together:
all of them are there, or none is.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

from . import db, events, jobs, outbox
from .digests import digest
from .jobs import Claim
from .moves import move
from .payloads import Payload

Model = Callable[[Payload], str]


def write_report(payload: Payload) -> str:
    """Stands for the expensive part: a model call, a parse, a download."""
    amount = f"{payload['amount'] / 100:.2f} {payload['currency']}"
    return f"Report for {payload['customer']}, {payload['period']}: {amount}"


def finish(home: Path, job_id: int, generation: int, body: str, now: float) -> bool:
    """Commit a result. True = it is committed by this generation, now or before; False = refused.

    A late commit (an older generation, a cancelled job) changes nothing.
    """
    with db.app(home) as conn:
        with db.transaction(conn):
            if already_finished(conn, job_id, generation):
                return True
            if not jobs.holds(conn, job_id, generation):
                return False
            _commit(conn, job_id, generation, body, now)
            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
    return True


def already_finished(conn: sqlite3.Connection, job_id: int, generation: int) -> bool:
    """Did this very generation finish before, so that only the answer was lost?"""
    row = jobs.get_in(conn, job_id)
    return bool(row["state"] == "done" and row["generation"] == generation)


def latest(home: Path, job_id: int) -> sqlite3.Row | None:
    with db.app(home) as conn:
        return latest_in(conn, job_id)


def latest_in(conn: sqlite3.Connection, job_id: int) -> sqlite3.Row | None:
    row: sqlite3.Row | None = conn.execute(
        "SELECT * FROM reports WHERE job_id = ? ORDER BY version DESC LIMIT 1", (job_id,)
    ).fetchone()
    return row


def _commit(conn: sqlite3.Connection, job_id: int, generation: int, body: str, now: float) -> None:
    insert_version(conn, job_id, 1, body, now, "report.committed")
    conn.execute(
        "UPDATE jobs SET output_digest = ?, committed_at = ?, done_at = ?, computed_at ="
        " (SELECT recorded_at FROM recorded WHERE job_id = jobs.job_id AND step = 'draft')"
        " WHERE job_id = ?",
        (digest(body), now, now, job_id),
    )
    move(conn, job_id, "finished", now, generation=generation)
    job = jobs.get_in(conn, job_id)
    outbox.add(conn, job_id, f"report.ready:{job['task_key']}", outbox.notice(job, body), now)


def insert_version(conn: sqlite3.Connection, job_id: int, version: int, body: str, now: float, kind: str) -> None:
    conn.execute("INSERT INTO reports VALUES (?, ?, ?, ?, ?)", (job_id, version, body, digest(body), now))
    events.append(conn, job_id, kind, now, version=version, digest=digest(body))


def compute(claim: Claim, row: sqlite3.Row, model: Model) -> str:
    """Run the model on the request, with the currency as we know it by now."""
    return model({**claim.payload, "currency": row["currency"]})
