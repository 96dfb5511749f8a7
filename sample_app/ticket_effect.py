"""The effect in somebody else's system: one ticket for a job, however often workers die.

Intent, request, record, in this order. Whoever finds an intent that may have been sent asks the
service first (reconcile.py); nobody sends blindly.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import approvals, db, dead_letters, intents, reconcile
from .clocks import Clock
from .intents import Gate, Intent
from .jobs import Claim
from .ticket_client import NotSent, TicketClient, TicketRefused


def ensure(
    home: Path,
    claim: Claim,
    parameters: dict[str, str],
    client: TicketClient,
    clock: Clock,
    gate: Gate = approvals.check,
) -> int | None:
    """The id of this job's ticket. None = it isn't known, and the job has been set aside."""
    intent, new = intents.prepare(home, claim, parameters, gate, clock())
    if not new:
        intent = reconcile.settle(home, intent, client, clock())
    if intent.state == "confirmed":
        return intent.ticket_id
    if intent.state == "prepared":
        return _send(home, claim, intent, client, clock, gate)
    why = "it may have been sent, and the service cannot tell"
    intents.becomes_unknown(home, intent, claim.generation, why, clock())
    return None


def _send(home: Path, claim: Claim, intent: Intent, client: TicketClient, clock: Clock, gate: Gate) -> int | None:
    intents.mark_sent(home, intent, claim.generation, gate, clock())
    try:
        ticket = client.create(intent.operation_id, intent.parameters)
    except NotSent:
        intents.take_back(home, intent, claim.generation, clock())
        raise
    except TicketRefused as error:
        _give_up(home, claim, intent, str(error), clock())
        return None
    except OSError as error:
        # A timeout, a reset, an unreadable answer: it may have happened.
        intents.becomes_unknown(home, intent, claim.generation, repr(error), clock())
        return None
    sys.audit("sample_app.ticket.sent", intent.operation_id)
    intents.confirm(home, intent.operation_id, ticket.ticket_id, "answer of the service", clock())
    return ticket.ticket_id


def _give_up(home: Path, claim: Claim, intent: Intent, why: str, now: float) -> None:
    with db.app(home) as conn:
        with db.transaction(conn):
            if dead_letters.bury(conn, claim.job_id, claim.generation, why, now):
                intents.refuse(conn, intent.operation_id, why, now)
            sys.audit("sample_app.intent.before_refused", intent.operation_id)
        sys.audit("sample_app.intent.refused", intent.operation_id)
