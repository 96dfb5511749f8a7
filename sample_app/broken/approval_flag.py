"""An approval as a bare flag: somebody once said yes to something.

Models an `approved = 1` column. It outlives the version that was read, the expiry, and the
permission of the person.
"""

from __future__ import annotations

import sqlite3

from sample_app import approvals

TWIN = "sample_app.approvals:check"
HARM = "What nobody has read is published in somebody's name."
# The report is edited while the worker is dead. (A job that nobody has claimed ends with the edit.)
FAILS_AT = (
    "sample_app.job.claimed+1:crash",
    "sample_app.intent.before_commit+1:crash",
    "sample_app.intent.committed+1:crash",
    "sample_app.intent.before_sent+1:crash",
    "sample_app.intent.sent+1:crash",
)


def check(conn: sqlite3.Connection, publish_job_id: int, now: float) -> None:
    # The mistake: the flag doesn't say to what.
    approved = conn.execute(
        "SELECT 1 FROM approvals WHERE publish_job_id = ? AND answered_at IS NOT NULL",
        (publish_job_id,),
    ).fetchone()
    if approved is None:
        raise approvals.NotApproved("not approved", void=False)
