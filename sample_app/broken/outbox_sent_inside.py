"""The event is sent inside the transaction that it tells about.

Models `send()` right before `commit()`, "so that both or none happen". The receiver has been told
about a report that a rollback takes back.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db, jobs, outbox, receiver, reports
from sample_app.moves import move

TWIN = "sample_app.reports:finish"
HARM = "The owner is told of a report that doesn't exist."
# Told, and then taken back; whoever looks before the recovery sees a notice without its report.
FAILS_AT = ("sample_app.receiver.committed+1:crash", "sample_app.outbox.before_commit+1:crash")


def finish(home: Path, job_id: int, generation: int, body: str, now: float) -> bool:
    with db.app(home) as conn:
        with db.transaction(conn):
            if not jobs.holds(conn, job_id, generation):
                return reports.already_finished(conn, job_id, generation)
            reports.insert_version(conn, job_id, 1, body, now, "report.committed")
            move(conn, job_id, "finished", now, generation=generation)
            job = jobs.get_in(conn, job_id)
            event_id, notice = f"report.ready:{job['task_key']}", outbox.notice(job, body)
            outbox.add(conn, job_id, event_id, notice, now)
            # The mistake: what has been sent can't be rolled back.
            receiver.receive(home, event_id, notice, now)
            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
    return True
