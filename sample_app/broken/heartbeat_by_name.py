"""A heartbeat that is recognised by the worker's name.

Models `WHERE lease_owner = :hostname`. A process that was replaced by another of the same name
keeps the lease of its successor alive, and believes that it is its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db
from sample_app.jobs import LEASE

TWIN = "sample_app.jobs:heartbeat"
HARM = "A dead worker's successor is kept alive by a ghost: its lease never runs out when it should."
# Replaced by a worker of the same name, it wakes and is told that it holds the job.
FAILS_AT = ("sample_app.job.claimed+1:pause",)


def heartbeat(home: Path, job_id: int, generation: int, now: float, lease: float = LEASE) -> bool:
    name = "worker"  # as read from the host's configuration
    with db.app(home) as conn:
        with db.transaction(conn):
            # The mistake: names are given twice, generations aren't.
            extended = conn.execute(
                "UPDATE jobs SET lease_until = ? WHERE job_id = ? AND lease_owner = ? AND state = 'running'",
                (now + lease, job_id, name),
            ).rowcount
        sys.audit("sample_app.job.heartbeat", job_id)
    return bool(extended)
