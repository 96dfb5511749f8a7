"""An approval that is bound to the report's text, and to nothing else of the action.

Models a hash over what is seen on the screen. The currency, the recipients or the tool can change
under the same text, and the old answer still fits.
"""

from __future__ import annotations

import sqlite3

from sample_app import approvals, reports

TWIN = "sample_app.approvals:check"
HARM = "1,200.50 EUR were approved, and 1,200.50 JPY are published."
# The currency is told while the worker is dead, paused, or not yet there.
FAILS_AT = (
    "sample_app.job.before_claimed+1:crash",
    "sample_app.job.claimed+1:crash",
    "sample_app.intent.before_commit+1:crash",
    "sample_app.intent.committed+1:crash",
    "sample_app.intent.before_sent+1:crash",
    "sample_app.intent.sent+1:crash",
)


def check(conn: sqlite3.Connection, publish_job_id: int, now: float) -> None:
    row = conn.execute(
        "SELECT * FROM approvals JOIN people ON person = approver WHERE publish_job_id = ?"
        " ORDER BY approvals.rowid DESC LIMIT 1",
        (publish_job_id,),
    ).fetchone()
    if row["state"] != "approved" or now >= row["expires_at"] or not row["may_approve"]:
        raise approvals.NotApproved(f"approval is {row['state']}", void=False)
    report = reports.latest_in(conn, row["job_id"])
    # The mistake: the action's hash, which was approved too, isn't compared.
    if report is None or report["digest"] != row["report_digest"]:
        raise approvals.NotApproved("the text has changed", void=True)
