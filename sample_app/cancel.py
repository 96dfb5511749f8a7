"""Cancelling: the wish is persisted first; from then on nothing new starts.

What has been sent is reconciled, not undone. A job counts as cancelled only when nothing of it can
happen any more: what wasn't sent never will be, what was sent is known, and the page store refuses
its generation.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import db, intents, jobs, pages
from .errors import Refused
from .moves import move
from .states import FINAL


def cancel(home: Path, job_id: int, now: float) -> str:
    """Stop a job; returns its state, `uncertain` while something sent has to be reconciled."""
    request_stop(home, job_id, now)
    close(home, job_id, now)
    return str(jobs.get(home, job_id)["state"])


def request_stop(home: Path, job_id: int, now: float) -> None:
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            if row["state"] in FINAL - {"cancelled"}:
                raise Refused(f"job {job_id} is {row['state']}; it cannot be cancelled any more")
            conn.execute(
                "UPDATE jobs SET stop_requested_at = coalesce(stop_requested_at, ?) WHERE job_id = ?",
                (now, job_id),
            )
            sys.audit("sample_app.cancel.before_requested", job_id)
        sys.audit("sample_app.cancel.requested", job_id)


def close_all(home: Path, now: float) -> list[int]:
    """Finish what was left of cancellations; returns the jobs that are cancelled now."""
    with db.app(home) as conn:
        rows = conn.execute(
            "SELECT job_id FROM jobs WHERE stop_requested_at IS NOT NULL AND state NOT IN ('done', 'cancelled', 'dead')"
        ).fetchall()
    return [row["job_id"] for row in rows if close(home, row["job_id"], now)]


def close(home: Path, job_id: int, now: float) -> bool:
    """Make a stopped job cancelled, if nothing of it is open outside."""
    _fence(home, job_id, now)
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            intents.give_up_prepared(conn, job_id, "cancelled before it was sent", now)
            is_open = bool(intents.open_in(conn, job_id))
            name = "became_uncertain" if is_open else "cancelled"
            move(conn, job_id, name, now, generation=row["generation"])
            sys.audit("sample_app.cancel.before_closed", job_id)
        sys.audit("sample_app.cancel.closed", job_id)
    return not is_open


def _fence(home: Path, job_id: int, now: float) -> None:
    """Shut the page store to every worker that may still be on its way to it."""
    row = jobs.get(home, job_id)
    if row["kind"] == "publish":
        page_id, version = pages.address_of(row)
        pages.fence(home, page_id, version, row["generation"] + 1, now)
        sys.audit("sample_app.cancel.fenced", job_id)
