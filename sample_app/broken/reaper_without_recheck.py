"""A reaper that acts on what it saw a moment ago.

Models `for job in expired(): release(job)`. Between the list and the act the worker's heartbeat
came through: its job is taken from it while it is alive and well.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db
from sample_app.moves import move
from sample_app.reaper import expired

TWIN = "sample_app.reaper:reap"
HARM = "A job is taken from a worker that is alive and well, and is done twice."
FAILS_AT = ("sample_app.reaper.seen+1:pause",)


def reap(home: Path, now: float) -> list[int]:
    reaped = []
    for row in expired(home, now):
        sys.audit("sample_app.reaper.seen", row["job_id"])
        with db.app(home) as conn:
            with db.transaction(conn):
                # The mistake: the lease isn't looked at again.
                generation = row["generation"]
                if move(conn, row["job_id"], "released", now, generation=generation):
                    reaped.append(row["job_id"])
                sys.audit("sample_app.reaper.before_commit", row["job_id"])
            sys.audit("sample_app.reaper.committed", row["job_id"])
    return reaped
