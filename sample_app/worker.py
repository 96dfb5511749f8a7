"""The worker: one turn at a job, and the loop that goes on until nothing is left.

A worker keeps nothing in memory that it couldn't lose. An error whose effect is unknown is
therefore treated like a death: forget everything, look into the database again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from . import cancel, heartbeats, jobs, outbox, receiver, reconcile, recorded, reports, retry
from .clocks import Clock, Wait
from .errors import SafeToRetry, Transient
from .jobs import LEASE, Claim
from .outbox import Deliver
from .publishing import work_on_publication
from .reports import Model, write_report
from .ticket_client import TicketClient

PATIENCE = 10  # errors in a row


@dataclass(frozen=True)
class Tools:
    """What a worker works with. Without a ticket service it leaves publications alone."""

    tickets: TicketClient | None = None
    model: Model = write_report
    lease: float = LEASE
    beat_every: float | None = None  # seconds; a third of the lease
    deliver: Deliver = receiver.receive


DEFAULT = Tools()


def work_once(home: Path, worker: str, clock: Clock, tools: Tools = DEFAULT) -> Claim | None:
    """Claim one job and do what there is to do for it. None = there was no job."""
    claim = jobs.claim(home, worker, clock(), tools.lease, kinds=_kinds(tools))
    if claim is None:
        return None
    try:
        work_on(home, claim, clock, tools)
    except SafeToRetry as error:
        retry.failed(home, claim, error, clock())
    return claim


def work_on(home: Path, claim: Claim, clock: Clock, tools: Tools = DEFAULT) -> bool:
    """Do the work of a claim. False = the job isn't ours any more, or has been set aside."""
    if claim.kind == "report":
        with heartbeats.kept(home, claim, clock, tools.lease, tools.beat_every):
            return work_on_report(home, claim, clock, tools.model)
    assert tools.tickets is not None, "claimed only with a ticket service"
    return work_on_publication(home, claim, tools.tickets, clock)


def work_on_report(home: Path, claim: Claim, clock: Clock, model: Model = write_report) -> bool:
    """Compute (once, outside any transaction), then commit. False = the job isn't ours any more."""
    row = jobs.get(home, claim.job_id)
    draft = recorded.once(home, claim.job_id, "draft", lambda: reports.compute(claim, row, model), clock())
    return reports.finish(home, claim.job_id, claim.generation, draft, clock())


def run_until_idle(home: Path, worker: str, clock: Clock, wait: Wait = time.sleep, tools: Tools = DEFAULT) -> None:
    """Work, reconcile and dispatch until nothing is left that time alone could bring forward.

    Jobs that wait for a person (`uncertain`, `needs_info`, an unanswered approval) stay.
    `wait(seconds)` is called where a lease or a backoff has to pass first.
    """
    troubles = 0
    while True:
        try:
            if not _turn(home, worker, clock, wait, tools):
                return
            troubles = 0
        except (OSError, Transient):
            troubles += 1
            if troubles > PATIENCE:
                raise


def _turn(home: Path, worker: str, clock: Clock, wait: Wait, tools: Tools) -> bool:
    if tools.tickets is None:
        cancel.close_all(home, clock())
    else:
        reconcile.reconcile_once(home, tools.tickets, clock)
    due = next_due(home, tools)
    if due is None:
        return False
    if due > clock():
        wait(due - clock())
    work_once(home, worker, clock, tools)
    outbox.dispatch_once(home, clock, tools.deliver)
    return True


def next_due(home: Path, tools: Tools = DEFAULT) -> float | None:
    """When there is something to do next; None = idle."""
    times = (jobs.next_due(home, _kinds(tools)), outbox.next_due(home))
    return min((time for time in times if time is not None), default=None)


def _kinds(tools: Tools) -> tuple[str, ...]:
    return ("report",) if tools.tickets is None else ("report", "publish")
