"""What varies is taken once, for a step with a stable name, and stored.

A resumed run reads back what the first one got: the same model answer, the same id.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from . import db


def once(home: Path, job_id: int, step: str, make: Callable[[], str], now: float) -> str:
    """The stored value of this step; made by `make`, outside any transaction, if there is none."""
    with db.app(home) as conn:
        found = conn.execute("SELECT value FROM recorded WHERE job_id = ? AND step = ?", (job_id, step)).fetchone()
    return str(found["value"]) if found else _store(home, job_id, step, make(), now)


def _store(home: Path, job_id: int, step: str, value: str, now: float) -> str:
    sys.audit("sample_app.job.computed", job_id)
    with db.app(home) as conn:
        with db.transaction(conn):
            # Two workers may have computed at the same time. The first one counts for both.
            conn.execute(
                "INSERT INTO recorded VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (job_id, step, value, now),
            )
            kept = conn.execute("SELECT value FROM recorded WHERE job_id = ? AND step = ?", (job_id, step)).fetchone()
        sys.audit("sample_app.job.recorded", job_id)
    return str(kept["value"])
