"""The ticket is requested before anything is written down: a death leaves no evidence.

Models "call the API, then save its answer", the order in which one thinks of it. In a service that
can't be asked, nothing tells the next worker that there was a request.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import approvals, db, intents
from sample_app.clocks import Clock
from sample_app.jobs import Claim
from sample_app.ticket_client import TicketClient

TWIN = "sample_app.ticket_effect:ensure"
HARM = "Two tickets for one report."
FAILS_AT = ("sample_app.ticket.sent+1:crash", "sample_app.intent.before_commit+1:crash")


def ensure(home: Path, claim: Claim, parameters: dict[str, str], client: TicketClient, clock: Clock) -> int | None:
    known = intents.of_job(home, claim.job_id)
    if known is not None:
        return known.ticket_id
    operation_id = f"ticket:{claim.task_key}"
    # The mistake: effect first, record second.
    ticket = client.create(operation_id, parameters)
    sys.audit("sample_app.ticket.sent", operation_id)
    with db.app(home) as conn:
        with db.transaction(conn):
            approvals.check(conn, claim.job_id, clock())
            intents.insert_in(conn, operation_id, claim.job_id, claim.generation, "ticket", parameters, clock())
            intents.confirm_in(conn, operation_id, ticket.ticket_id, "answer", clock())
            sys.audit("sample_app.intent.before_commit", claim.job_id)
        sys.audit("sample_app.intent.committed", claim.job_id)
    return ticket.ticket_id
