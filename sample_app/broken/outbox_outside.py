"""The report in one transaction, its outbox event in the next.

Models an "after commit" hook, or a second repository with a session of its own. A death in between
leaves a report of which nobody will ever be told.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db, jobs, outbox, reports
from sample_app.moves import move

TWIN = "sample_app.reports:finish"
HARM = "The report is there, and its owner is never told."
FAILS_AT = ("sample_app.report.committed+1:crash", "sample_app.outbox.before_commit+1:crash")


def finish(home: Path, job_id: int, generation: int, body: str, now: float) -> bool:
    with db.app(home) as conn:
        with db.transaction(conn):
            if not jobs.holds(conn, job_id, generation):
                return reports.already_finished(conn, job_id, generation)
            reports.insert_version(conn, job_id, 1, body, now, "report.committed")
            move(conn, job_id, "finished", now, generation=generation)
        sys.audit("sample_app.report.committed", job_id)
        # The mistake: this belongs above.
        with db.transaction(conn):
            job = jobs.get_in(conn, job_id)
            event_id = f"report.ready:{job['task_key']}"
            outbox.add(conn, job_id, event_id, outbox.notice(job, body), now)
            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
    return True
