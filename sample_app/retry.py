"""Trying again: only what is known to have had no effect, later each time, and not for ever."""

from __future__ import annotations

import random
import sys
from pathlib import Path

from . import db, dead_letters, jobs
from .errors import SafeToRetry
from .jobs import Claim
from .moves import move

BUDGET = 5  # failures
FIRST_DELAY = 1.0  # seconds
LONGEST_DELAY = 300.0  # seconds


def backoff(job_id: int, failures: int, seed: str = "") -> float:
    """Seconds to wait: doubled by each failure, with half of it left to (reproducible) chance.

    The jitter keeps jobs that failed together from coming back together.
    """
    delay = min(LONGEST_DELAY, FIRST_DELAY * 2.0 ** (failures - 1))
    return delay * random.Random(f"{seed}/{job_id}/{failures}").uniform(0.5, 1.0)


def failed(home: Path, claim: Claim, error: SafeToRetry, now: float) -> None:
    """Plan another attempt, or give the job up when its budget is spent."""
    failures = claim.failures + 1
    with db.app(home) as conn:
        with db.transaction(conn):
            if not jobs.holds(conn, claim.job_id, claim.generation):
                return
            conn.execute(
                "UPDATE jobs SET failures = ?, not_before = ?, last_error = ? WHERE job_id = ?",
                (failures, now + backoff(claim.job_id, failures), str(error), claim.job_id),
            )
            if failures < BUDGET:
                move(conn, claim.job_id, "failed_safely", now, generation=claim.generation)
            else:
                dead_letters.bury(conn, claim.job_id, claim.generation, f"failed {failures} times", now)
            sys.audit("sample_app.retry.before_commit", claim.job_id)
        sys.audit("sample_app.retry.committed", claim.job_id)
