"""The worker: one turn at a job, and the loop that goes on until nothing is left.

A worker keeps nothing in memory that it couldn't lose. An error whose effect is unknown is
therefore treated like a death: forget everything, look into the database again.
"""

from __future__ import annotations

import time
from pathlib import Path

from . import jobs, outbox, recorded, reports, retry
from .clocks import Clock, Wait
from .errors import SafeToRetry, Transient
from .jobs import LEASE, Claim
from .reports import Model, write_report

PATIENCE = 10  # errors in a row


def work_once(
    home: Path, worker: str, clock: Clock, *, model: Model = write_report, lease: float = LEASE
) -> Claim | None:
    """Claim one job and do what there is to do for it. None = there was no job."""
    claim = jobs.claim(home, worker, clock(), lease)
    if claim is None:
        return None
    try:
        work_on_report(home, claim, clock, model)
    except SafeToRetry as error:
        retry.failed(home, claim, error, clock())
    return claim


def work_on_report(home: Path, claim: Claim, clock: Clock, model: Model = write_report) -> bool:
    """Compute (once, outside any transaction), then commit. False = the job isn't ours any more."""
    row = jobs.get(home, claim.job_id)
    draft = recorded.once(
        home, claim.job_id, "draft", lambda: reports.compute(claim, row, model), clock()
    )
    return reports.finish(home, claim.job_id, claim.generation, draft, clock())


def run_until_idle(
    home: Path,
    worker: str,
    clock: Clock,
    wait: Wait = time.sleep,
    *,
    model: Model = write_report,
    lease: float = LEASE,
) -> None:
    """Work and dispatch until nothing is left that time alone could bring forward.

    Jobs that wait for a person (`uncertain`, `needs_info`, an unanswered approval) stay.
    `wait(seconds)` is called where a lease or a backoff has to pass first.
    """
    troubles = 0
    while troubles <= PATIENCE:
        try:
            if not _turn(home, worker, clock, wait, model, lease):
                return
            troubles = 0
        except (OSError, Transient):
            troubles += 1
            if troubles > PATIENCE:
                raise


def _turn(home: Path, worker: str, clock: Clock, wait: Wait, model: Model, lease: float) -> bool:
    due = next_due(home)
    if due is None:
        return False
    if due > clock():
        wait(due - clock())
    work_once(home, worker, clock, model=model, lease=lease)
    outbox.dispatch_once(home, clock)
    return True


def next_due(home: Path) -> float | None:
    """When there is something to do next; None = idle."""
    times = [t for t in (jobs.next_due(home), outbox.next_due(home)) if t is not None]
    return min(times, default=None)
