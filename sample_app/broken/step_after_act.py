"""A checkpoint that is saved after each step: the step is repeated if it is lost.

Models the workflow table with a `last_step` column that a loop sets when a step is through. The
step had its effect outside; only the note about it was lost.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import approvals, recorded
from sample_app.clocks import Clock
from sample_app.jobs import Claim
from sample_app.publishing import publish
from sample_app.ticket_client import TicketClient

TWIN = "sample_app.publishing:work_on_publication"
HARM = "Two tickets for one report."
FAILS_AT = ("sample_app.ticket.sent+1:crash", "sample_app.job.computed+1:crash")


def work_on_publication(home: Path, claim: Claim, client: TicketClient, clock: Clock) -> bool:
    parameters = approvals.approved_action(home, claim.job_id)["parameters"]

    def create() -> str:
        ticket = client.create(f"ticket:{claim.task_key}", parameters)
        sys.audit("sample_app.ticket.sent", claim.task_key)
        return str(ticket.ticket_id)

    # The mistake: the only record of the request is made after it.
    ticket_id = recorded.once(home, claim.job_id, "last_step", create, clock())
    return publish(home, claim, parameters["body"], int(ticket_id), clock)
