"""A lease, and no generation: whoever comes back writes.

Models a lock with an expiry and nothing else. A worker that was paused past its lease finds the
job running, as it left it, and doesn't know that it is another's run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db, jobs, outbox, reports
from sample_app.moves import move

TWIN = "sample_app.reports:finish"
HARM = "The stale worker's report is kept, the valid one refused."
# Paused past its lease, and woken while the next holder is at work.
FAILS_AT = (
    "sample_app.job.claimed+1:pause",
    "sample_app.job.computed+1:pause",
    "sample_app.job.recorded+1:pause",
)


def finish(home: Path, job_id: int, generation: int, body: str, now: float) -> bool:
    with db.app(home) as conn:
        with db.transaction(conn):
            job = jobs.get_in(conn, job_id)
            # The mistake: "is it running" is asked, and not "is it still my run".
            if job["state"] != "running":
                return False
            reports.insert_version(conn, job_id, 1, body, now, "report.committed")
            move(conn, job_id, "finished", now, generation=job["generation"])
            event_id = f"report.ready:{job['task_key']}"
            outbox.add(conn, job_id, event_id, outbox.notice(job, body), now)
            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
    return True
