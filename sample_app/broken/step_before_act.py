"""A checkpoint that is saved before each step: the step is skipped if it was not reached.

Models the `last_step` column of somebody who has met the duplicates of `step_after_act`, and set it
first: what was about to be done counts as done.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import approvals, db
from sample_app.clocks import Clock
from sample_app.jobs import Claim
from sample_app.publishing import publish
from sample_app.ticket_client import TicketClient

TWIN = "sample_app.publishing:work_on_publication"
HARM = "A page is published whose ticket was never made."
FAILS_AT = ("sample_app.step.saved+1:crash",)


def work_on_publication(home: Path, claim: Claim, client: TicketClient, clock: Clock) -> bool:
    parameters = approvals.approved_action(home, claim.job_id)["parameters"]
    ticket_id = 0
    # The mistake: the step is noted as done, and then done.
    if _save_step(home, claim.job_id, clock()):
        ticket_id = client.create(f"ticket:{claim.task_key}", parameters).ticket_id
        sys.audit("sample_app.ticket.sent", claim.task_key)
    return publish(home, claim, parameters["body"], ticket_id, clock)


def _save_step(home: Path, job_id: int, now: float) -> bool:
    with db.app(home) as conn:
        with db.transaction(conn):
            saved = conn.execute(
                "INSERT INTO recorded VALUES (?, 'last_step', 'ticket', ?) ON CONFLICT DO NOTHING",
                (job_id, now),
            ).rowcount
        sys.audit("sample_app.step.saved", job_id)
    return bool(saved)
