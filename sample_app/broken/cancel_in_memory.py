"""Cancelling by a flag in memory.

Models `self.stopped = True`, or a cancelled asyncio task: it stops the process that hears of it,
and not the one that a supervisor starts after it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import jobs

TWIN = "sample_app.cancel:cancel"
HARM = "The cancelled job is done all the same."
FAILS_AT = ("sample_app.cancel.requested+1:crash",)

stopped: set[int] = set()


def cancel(home: Path, job_id: int, now: float) -> str:
    # The mistake: nothing is persisted.
    stopped.add(job_id)
    sys.audit("sample_app.cancel.requested", job_id)
    return str(jobs.get(home, job_id)["state"])
