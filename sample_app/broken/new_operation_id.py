"""An operation id that is made anew by each try: evidence under a name that nobody knows.

Models `operation_id = uuid4()` at the top of the function that is retried. The intent is written
first and the service is asked before sending, all by the book, about another operation.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path

from sample_app import approvals, db, intents
from sample_app.clocks import Clock
from sample_app.jobs import Claim
from sample_app.ticket_client import TicketClient

TWIN = "sample_app.ticket_effect:ensure"
HARM = "Two tickets for one report."
FAILS_AT = ("sample_app.ticket.sent+1:crash", "sample_app.intent.before_confirmed+1:crash")


def ensure(home: Path, claim: Claim, parameters: dict[str, str], client: TicketClient, clock: Clock) -> int | None:
    known = intents.of_job(home, claim.job_id)
    if known is not None and known.state == "confirmed":
        return known.ticket_id
    # The mistake: this belongs to the job, and has to be read back.
    operation_id = secrets.token_hex(8)
    _prepare(home, claim, operation_id, parameters, clock())
    found = client.by_operation(operation_id)
    ticket = found[0] if found else client.create(operation_id, parameters)
    sys.audit("sample_app.ticket.sent", operation_id)
    intents.confirm(home, operation_id, ticket.ticket_id, "answer", clock())
    return ticket.ticket_id


def _prepare(home: Path, claim: Claim, operation_id: str, parameters: dict[str, str], now: float) -> None:
    with db.app(home) as conn:
        with db.transaction(conn):
            approvals.check(conn, claim.job_id, now)
            conn.execute("DELETE FROM intents WHERE job_id = ?", (claim.job_id,))
            intents.insert_in(conn, operation_id, claim.job_id, claim.generation, "ticket", parameters, now)
            sys.audit("sample_app.intent.before_commit", claim.job_id)
        sys.audit("sample_app.intent.committed", claim.job_id)
