"""Finding out what happened outside: evidence first, then a decision, and never a blind request.

| the service                  | says                   | so                                    |
|------------------------------|------------------------|---------------------------------------|
| knows operation ids or can   | a ticket that agrees   | it happened: store it                 |
| be searched                  | a ticket that doesn't  | a person has to look                  |
| honours keys, still kept     | no ticket              | may be sent again under the same key  |
| honours keys, forgotten      | no ticket              | a person has to look                  |
| can only be searched         | no ticket              | a person has to look: the request may |
|                              |                        | still be on its way                   |
| cannot be asked              | -                      | a person has to look                  |
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

from . import cancel, db, intents, jobs
from .clocks import Clock
from .errors import SafeToRetry
from .intents import Intent
from .moves import move
from .ticket_client import Ticket, TicketClient, TicketRefused

SKEW = 60.0  # seconds by which the service's clock may differ from ours


@dataclass(frozen=True)
class Finding:
    """`ticket` is one that agrees with the intent. `absent`: the service says there is none."""

    ticket: Ticket | None = None
    absent: bool = False
    why: str = ""


def look(intent: Intent, client: TicketClient, now: float) -> Finding:
    """Ask the service. Only reads."""
    try:
        tickets = _candidates(intent, client, now)
    except (OSError, SafeToRetry, TicketRefused) as error:
        return Finding(why=f"the service does not answer: {error}")
    if tickets is None:
        return Finding(why="the service cannot be asked")
    if not tickets:
        return Finding(absent=True, why="the service has no such ticket")
    if len(tickets) > 1 or tickets[0].content != intent.parameters:
        ids = ", ".join(str(ticket.ticket_id) for ticket in tickets)
        return Finding(why=f"found ticket {ids}, which is not what was intended")
    return Finding(ticket=tickets[0])


def settle(home: Path, intent: Intent, client: TicketClient, now: float) -> Intent:
    """Decide about an intent that somebody else left, and store the decision.

    Returns it as it is now: `confirmed`, `prepared` (may be sent, under the same operation id), or
    unchanged where nobody can tell.
    """
    if intent.state in ("confirmed", "failed"):
        return intent
    finding = look(intent, client, now)
    sys.audit("sample_app.ticket.looked_up", intent.operation_id)
    if finding.ticket is not None:
        found = finding.ticket.ticket_id
        intents.confirm(home, intent.operation_id, found, "found at the service", now)
        return replace(intent, state="confirmed", ticket_id=found)
    if intent.state != "prepared" and finding.absent and _key_is_kept(intent, client, now):
        intents.may_send_again(home, intent, now)
        return replace(intent, state="prepared", sent_at=None)
    return intent


def reconcile_once(home: Path, client: TicketClient, clock: Clock) -> list[int]:
    """Settle what can be settled of the uncertain jobs; returns those that may go on or are over.

    May run beside workers and other reconcilers: every decision is stored by comparing.
    """
    settled = [job_id for job_id in _uncertain(home) if _reconcile(home, job_id, client, clock)]
    return settled + cancel.close_all(home, clock())


def _candidates(intent: Intent, client: TicketClient, now: float) -> list[Ticket] | None:
    if client.mode == "keys":
        return client.by_operation(intent.operation_id)
    if client.mode == "search":
        wanted = intent.parameters
        since = intent.prepared_at - SKEW
        return client.search(wanted["account"], wanted["title"], since, now + SKEW)
    return None


def _key_is_kept(intent: Intent, client: TicketClient, now: float) -> bool:
    if client.mode != "keys" or intent.sent_at is None:
        return False
    return now + SKEW < intent.sent_at + client.retention


def _uncertain(home: Path) -> list[int]:
    with db.app(home) as conn:
        rows = conn.execute("SELECT job_id FROM jobs WHERE state = 'uncertain' ORDER BY job_id")
        return [row["job_id"] for row in rows]


def _reconcile(home: Path, job_id: int, client: TicketClient, clock: Clock) -> bool:
    intent = intents.of_job(home, job_id)
    if intent is None:
        return False
    intent = settle(home, intent, client, clock())
    return intent.state in ("confirmed", "prepared") and let_go_on(home, job_id, clock())


def let_go_on(home: Path, job_id: int, now: float) -> bool:
    """Back into the queue, its intent being settled. A stopped job stays: it will be closed."""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            if row["stop_requested_at"] is not None or intents.open_in(conn, job_id):
                return False
            moved = move(conn, job_id, "settled", now, generation=row["generation"])
            sys.audit("sample_app.reconcile.before_settled", job_id)
        sys.audit("sample_app.reconcile.settled", job_id)
    return moved
