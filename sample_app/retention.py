"""Forgetting: only what can't come again.

A dedupe key that is forgotten too early turns the next repeat into a second effect. So keys are
kept longer than anything that could still bring a repeat, and age alone is never a reason.
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass, field
from pathlib import Path

from . import db
from .clocks import check_not_backwards
from .errors import Refused

DAY = 86400.0


@dataclass(frozen=True)
class Policy:
    """How long a repeat can come from where, in seconds."""

    retry_window: float = 1 * DAY
    queue_residence: float = 7 * DAY
    compensation_period: float = 30 * DAY

    @property
    def keep(self) -> float:
        return max(self.retry_window, self.queue_residence, self.compensation_period)


@dataclass
class Purged:
    forgotten: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)  # event id -> why


DEFAULT = Policy()


def purge(home: Path, older_than: float, now: float, policy: Policy = DEFAULT) -> Purged:
    """Forget delivered events and the receiver's keys of them, if `older_than` seconds old.

    First the sender forgets, then the receiver: at no instant is there an event to send whose key
    isn't known.
    """
    if older_than <= policy.keep:
        raise Refused(
            f"keys are kept for more than {policy.keep:.0f} s, the longest of retry window,"
            f" queue residence and compensation period; {older_than:.0f} s is too short"
        )
    result = Purged()
    _forget_events(home, now - older_than, now, result)
    sys.audit("sample_app.purge.sender_forgot", len(result.forgotten))
    _forget_keys(home, now - older_than, result)
    sys.audit("sample_app.purge.receiver_forgot", len(result.forgotten))
    return result


def _forget_events(home: Path, before: float, now: float, result: Purged) -> None:
    with db.app(home) as conn, db.transaction(conn):
        check_not_backwards(conn, now)
        for row in conn.execute(
            "SELECT outbox.*, state FROM outbox JOIN jobs USING (job_id) WHERE created_at < ?"
            " ORDER BY created_at, event_id",
            (before,),
        ).fetchall():
            why = _replayable(conn, row, before)
            if why is None:
                conn.execute("DELETE FROM outbox WHERE event_id = ?", (row["event_id"],))
            else:
                result.refused[row["event_id"]] = why
        sys.audit("sample_app.purge.before_commit", before)


def _replayable(conn: sqlite3.Connection, row: sqlite3.Row, before: float) -> str | None:
    """Why this event could still be sent; None if it can't."""
    if row["delivered_at"] is None:
        return "not delivered yet"
    if row["delivered_at"] >= before:
        return "delivered too recently"
    if row["state"] not in ("done", "cancelled"):
        return f"its job is {row['state']}"
    open_intents = conn.execute(
        "SELECT 1 FROM intents WHERE job_id = ? AND state IN ('prepared', 'sent', 'unknown')",
        (row["job_id"],),
    )
    return "its job has an open intent" if open_intents.fetchone() else None


def _forget_keys(home: Path, before: float, result: Purged) -> None:
    """Forget the old keys of events that the sender doesn't have any more."""
    with db.receiver(home) as conn, db.transaction(conn):
        old = conn.execute("SELECT event_id FROM inbox WHERE received_at < ?", (before,))
        for event_id in _without_event(home, [row["event_id"] for row in old]):
            conn.execute("DELETE FROM inbox WHERE event_id = ?", (event_id,))
            result.forgotten.append(event_id)
        sys.audit("sample_app.purge.before_keys_forgotten", before)


def _without_event(home: Path, event_ids: list[str]) -> list[str]:
    with db.app(home) as conn:
        kept = {row["event_id"] for row in conn.execute("SELECT event_id FROM outbox")}
    return [event_id for event_id in event_ids if event_id not in kept]
