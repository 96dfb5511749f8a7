"""The job is marked as done, and then done.

Models a dedupe table that is written on arrival ("so that nobody else takes it"). After a death in
between, the work is known to everybody and exists nowhere.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db, jobs, outbox, reports
from sample_app.clocks import Clock
from sample_app.jobs import Claim
from sample_app.moves import move
from sample_app.reports import Model, write_report

TWIN = "sample_app.worker:work_on_report"
HARM = "The job is done, and there is no report."
FAILS_AT = (
    "sample_app.job.marked+1:crash",
    "sample_app.job.computed+1:crash",
    "sample_app.outbox.before_commit+1:crash",
)


def work_on_report(home: Path, claim: Claim, clock: Clock, model: Model = write_report) -> bool:
    # The mistake: the mark is committed without the work.
    with db.app(home) as conn:
        with db.transaction(conn):
            marked = move(conn, claim.job_id, "finished", clock(), generation=claim.generation)
        sys.audit("sample_app.job.marked", claim.job_id)
    if marked:
        body = reports.compute(claim, jobs.get(home, claim.job_id), model)
        sys.audit("sample_app.job.computed", claim.job_id)
        _store(home, claim.job_id, body, clock())
    return marked


def _store(home: Path, job_id: int, body: str, now: float) -> None:
    with db.app(home) as conn:
        with db.transaction(conn):
            reports.insert_version(conn, job_id, 1, body, now, "report.committed")
            job = jobs.get_in(conn, job_id)
            event_id = f"report.ready:{job['task_key']}"
            outbox.add(conn, job_id, event_id, outbox.notice(job, body), now)
            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
