"""Keeping a lease while something takes long.

The thread beats as long as the process runs. A process that is stopped doesn't beat, so its lease runs
out as it should; and a beat that is refused says that the job is somebody else's by now.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from . import jobs
from .clocks import Clock
from .errors import ClockWentBack, Transient
from .jobs import LEASE, Claim


@contextlib.contextmanager
def kept(home: Path, claim: Claim, clock: Clock, lease: float = LEASE, every: float | None = None) -> Iterator[None]:
    """Extend the lease of a claim every `every` seconds (a third of the lease) until the block ends."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(lease / 3 if every is None else every):
            try:
                if not jobs.heartbeat(home, claim.job_id, claim.generation, clock(), lease):
                    sys.audit("sample_app.job.lost", claim.job_id)
                    return
            except (Transient, ClockWentBack):
                continue  # the next one may get through

    thread = threading.Thread(target=beat, name=f"heartbeat of job {claim.job_id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
