"""A dead letter that is deleted first and put back into the queue second.

Models a requeue script with `pop()` and `push()`. After a death in between the job is in neither:
nobody will work on it, and nobody will see that.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db, jobs
from sample_app.moves import move

TWIN = "sample_app.dead_letters:requeue"
HARM = "The job that was put back has vanished: neither queued nor among the dead letters."
FAILS_AT = ("sample_app.dead_letter.deleted+1:crash", "sample_app.dead_letter.before_commit+1:crash")


def requeue(home: Path, job_id: int, now: float) -> None:
    with db.app(home) as conn:
        # The mistake: two transactions, and the wrong one first.
        with db.transaction(conn):
            found = conn.execute("DELETE FROM dead_letters WHERE job_id = ?", (job_id,)).rowcount
        if not found:
            return
        sys.audit("sample_app.dead_letter.deleted", job_id)
        with db.transaction(conn):
            generation = jobs.get_in(conn, job_id)["generation"]
            move(conn, job_id, "requeued", now, generation=generation)
            conn.execute("UPDATE jobs SET failures = 0, not_before = 0 WHERE job_id = ?", (job_id,))
            sys.audit("sample_app.dead_letter.before_commit", job_id)
        sys.audit("sample_app.dead_letter.committed", job_id)
