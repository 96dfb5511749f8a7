"""An uncertain job, decided by an operator who has looked into the service itself.

* `happened`: the ticket is stored, and the job goes on from there;
* `did_not_happen`: the job runs again, under the same operation id;
* `compensated`: the ticket is cancelled at the service (with an intent of its own), and the job
  is over.

Whoever says `did_not_happen` vouches for more than an empty ledger: that no request is on its way.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import cancel, db, intents, jobs, reconcile
from .clocks import Clock
from .errors import Refused
from .intents import Intent
from .ticket_client import TicketClient


def happened(home: Path, job_id: int, ticket_id: int, evidence: str, now: float) -> str:
    intent = _uncertain_intent(home, job_id)
    intents.confirm(home, intent.operation_id, ticket_id, evidence, now)
    return _go_on(home, job_id, now)


def did_not_happen(home: Path, job_id: int, evidence: str, now: float) -> str:
    intent = _uncertain_intent(home, job_id)
    if intent.state == "confirmed":
        raise Refused(f"job {job_id} has ticket {intent.ticket_id}: it did happen")
    intents.may_send_again(home, intent, now, evidence)
    return _go_on(home, job_id, now)


def compensated(home: Path, job_id: int, ticket_id: int, evidence: str, client: TicketClient, clock: Clock) -> str:
    """Undo by another action. May be repeated after a death: cancelling twice is cancelling."""
    intent = _uncertain_intent(home, job_id)
    cancel.request_stop(home, job_id, clock())
    operation_id = _intend_compensation(home, intent, ticket_id, clock())
    client.cancel(ticket_id)
    sys.audit("sample_app.ticket.compensated", operation_id)
    intents.confirm(home, operation_id, ticket_id, evidence, clock())
    intents.confirm(home, intent.operation_id, ticket_id, evidence, clock())
    return _go_on(home, job_id, clock())


def _go_on(home: Path, job_id: int, now: float) -> str:
    if not reconcile.let_go_on(home, job_id, now):
        cancel.close_all(home, now)
    return str(jobs.get(home, job_id)["state"])


def _uncertain_intent(home: Path, job_id: int) -> Intent:
    state = jobs.get(home, job_id)["state"]
    intent = intents.of_job(home, job_id)
    if state != "uncertain" or intent is None:
        raise Refused(f"job {job_id} is {state}, not uncertain; there is nothing to resolve")
    return intent


def _intend_compensation(home: Path, intent: Intent, ticket_id: int, now: float) -> str:
    operation_id = f"compensate:{intent.operation_id}"
    parameters = {"ticket_id": str(ticket_id)}
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, intent.job_id)
            if intents.exists(conn, operation_id):
                return operation_id
            intents.insert_in(conn, operation_id, intent.job_id, row["generation"], "compensate", parameters, now)
            intents.set_sent(conn, operation_id, now)
            sys.audit("sample_app.compensation.before_commit", operation_id)
        sys.audit("sample_app.compensation.committed", operation_id)
    return operation_id
