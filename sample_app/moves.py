"""Moving a job from one state to another, together with the event that says so."""

from __future__ import annotations

import sqlite3
from typing import Any

from . import events
from .states import MOVES


def move(conn: sqlite3.Connection, job_id: int, name: str, now: float, *, generation: int, **data: Any) -> bool:
    """Move a job, if it is still as the caller thinks: same generation, a state to move from.

    Belongs inside the caller's transaction. False = refused, nothing changed.
    """
    sources, to, _ = MOVES[name]
    marks = ", ".join("?" * len(sources))
    changed = conn.execute(
        f"UPDATE jobs SET state = ?, lease_owner = NULL, lease_until = NULL"
        f" WHERE job_id = ? AND generation = ? AND state IN ({marks})",
        (to, job_id, generation, *sorted(sources)),
    ).rowcount
    if changed:
        events.append(conn, job_id, f"job.{name}", now, **data)
    return bool(changed)
