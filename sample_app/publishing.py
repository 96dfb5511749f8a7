"""Publishing an approved report: ticket, page, then our own books and the owner's notice."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

from . import approvals, db, intents, jobs, outbox, pages, reports, ticket_effect
from .clocks import Clock
from .jobs import Claim
from .moves import move
from .ticket_client import TicketClient

# home, claim, parameters, client, clock -> ticket id, or None where the job was set aside
Ensure = Callable[[Path, Claim, dict[str, str], TicketClient, Clock], int | None]


def work_on_publication(
    home: Path,
    claim: Claim,
    client: TicketClient,
    clock: Clock,
    ensure: Ensure = ticket_effect.ensure,
) -> bool:
    """Do what is left of it. False = it isn't ours to do, or has been set aside."""
    try:
        parameters = approvals.approved_action(home, claim.job_id)["parameters"]
        ticket_id = ensure(home, claim, parameters, client, clock)
    except intents.NotOurs:
        return False
    except approvals.NotApproved as refusal:
        approvals.stop_job(home, claim.job_id, claim.generation, refusal, clock())
        return False
    return ticket_id is not None and publish(home, claim, parameters["body"], ticket_id, clock)


def finish(home: Path, claim: Claim, ticket_id: int, now: float) -> bool:
    """Result, event and notice in one transaction. False = refused, nothing changed."""
    with db.app(home) as conn:
        with db.transaction(conn):
            if reports.already_finished(conn, claim.job_id, claim.generation):
                return True
            if not jobs.holds(conn, claim.job_id, claim.generation):
                return False
            _commit(conn, claim, ticket_id, now)
            sys.audit("sample_app.publication.before_commit", claim.job_id)
        sys.audit("sample_app.publication.committed", claim.job_id)
    return True


def publish(home: Path, claim: Claim, body: str, ticket_id: int, clock: Clock) -> bool:
    """The page, then our own books. False = refused by either."""
    page_id, version = claim.payload["page"], claim.payload["version"]
    return (
        _may_go_on(home, claim)
        and pages.write(home, page_id, version, claim.generation, body, clock())
        and finish(home, claim, ticket_id, clock())
    )


def _may_go_on(home: Path, claim: Claim) -> bool:
    # Only saves work: the page store decides by itself about a generation that is too old.
    with db.app(home) as conn:
        held = jobs.holds(conn, claim.job_id, claim.generation)
    sys.audit("sample_app.publication.checked", claim.job_id)  # from here on it may not be true any more
    return held


def _commit(conn: sqlite3.Connection, claim: Claim, ticket_id: int, now: float) -> None:
    conn.execute("UPDATE jobs SET committed_at = ?, done_at = ? WHERE job_id = ?", (now, now, claim.job_id))
    move(conn, claim.job_id, "finished", now, generation=claim.generation, ticket=ticket_id)
    job = jobs.get_in(conn, claim.job_id)
    text = f"{claim.payload['page']} v{claim.payload['version']}: published, ticket {ticket_id}"
    event_id = f"report.published:{claim.task_key}"
    outbox.add(conn, claim.job_id, event_id, outbox.notice(job, text), now)
