"""A timeout that counts as a failure, and is retried.

Models `except Exception: retry()`. The answer got lost, not the request: in a service without
idempotency keys the retry makes a second ticket.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import approvals, intents, reconcile
from sample_app.clocks import Clock
from sample_app.errors import SafeToRetry
from sample_app.jobs import Claim
from sample_app.ticket_client import TicketClient

TWIN = "sample_app.ticket_effect:ensure"
HARM = "Two tickets for one report."
FAILS_AT = ("sample_app.ticket_client:TicketClient.create:exit+1:lost_ack",)


def ensure(home: Path, claim: Claim, parameters: dict[str, str], client: TicketClient, clock: Clock) -> int | None:
    intent, new = intents.prepare(home, claim, parameters, approvals.check, clock())
    if not new:
        intent = reconcile.settle(home, intent, client, clock())
    if intent.state == "confirmed":
        return intent.ticket_id
    if intent.state != "prepared":
        why = "it may have been sent, and the service cannot tell"
        intents.becomes_unknown(home, intent, claim.generation, why, clock())
        return None
    intents.mark_sent(home, intent, claim.generation, approvals.check, clock())
    try:
        ticket = client.create(intent.operation_id, intent.parameters)
    except OSError as error:
        # The mistake: nobody knows that this is safe.
        intents.take_back(home, intent, claim.generation, clock())
        raise SafeToRetry(f"failed: {error}") from error
    sys.audit("sample_app.ticket.sent", intent.operation_id)
    intents.confirm(home, intent.operation_id, ticket.ticket_id, "answer", clock())
    return ticket.ticket_id
