"""The outbox: what others have to be told, written with the fact that it tells.

An event has one id for ever. Whoever is unsure whether it arrived sends it again under that id. One
that the receiver refuses for good is set aside, so that it doesn't keep the others waiting.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import db, receiver
from .clocks import Clock
from .digests import canonical
from .errors import Conflict, Refused, one_line

Deliver = Callable[[Path, str, dict[str, Any], float], receiver.Answer]

OFFER_AGAIN_AFTER = 1.0  # seconds


def add(conn: sqlite3.Connection, job_id: int, event_id: str, payload: dict[str, Any], now: float) -> None:
    """Inside the transaction of the fact itself. That is the whole point of an outbox."""
    conn.execute(
        "INSERT INTO outbox (event_id, job_id, payload, created_at) VALUES (?, ?, ?, ?)",
        (event_id, job_id, canonical(payload), now),
    )


def notice(job: sqlite3.Row, text: str) -> dict[str, Any]:
    """What the owner of a job is told."""
    return {"owner": json.loads(job["payload"])["owner"], "text": text}


def payload_of(event: sqlite3.Row) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(event["payload"])
    return payload


def pending(home: Path, now: float | None = None) -> list[sqlite3.Row]:
    """Undelivered events that weren't refused, oldest first; with `now`, only those whose turn it is."""
    with db.app(home) as conn:
        return conn.execute(
            "SELECT * FROM outbox WHERE delivered_at IS NULL AND refusal IS NULL AND (:now IS NULL OR not_before"
            " <= :now) ORDER BY created_at, event_id",
            {"now": now},
        ).fetchall()


def refused(home: Path) -> list[sqlite3.Row]:
    """Events that were set aside, with the receiver's reason."""
    with db.app(home) as conn:
        return conn.execute("SELECT * FROM outbox WHERE refusal IS NOT NULL ORDER BY created_at, event_id").fetchall()


def offer_again(home: Path, event_id: str) -> None:
    """An operator's act, after the reason for the refusal was removed. The id stays."""
    with db.app(home) as conn, db.transaction(conn):
        if not conn.execute(
            "UPDATE outbox SET refusal = NULL WHERE event_id = ? AND refusal IS NOT NULL", (event_id,)
        ).rowcount:
            raise Refused(f"event {event_id!r} was not refused")


def dispatch_once(home: Path, clock: Clock, deliver: Deliver = receiver.receive) -> int:
    """Offer every event whose turn it is, once. Returns how many are now known to be delivered."""
    return sum(_offer(home, row, clock, deliver) for row in pending(home, clock()))


def next_due(home: Path) -> float | None:
    """When the next pending event may be offered; None = everything is delivered."""
    return min((float(row["not_before"]) for row in pending(home)), default=None)


def _offer(home: Path, row: sqlite3.Row, clock: Clock, deliver: Deliver) -> bool:
    event_id = row["event_id"]
    sys.audit("sample_app.outbox.picked", event_id)
    try:
        deliver(home, event_id, payload_of(row), clock())
    except (TimeoutError, ConnectionError):
        # It may have arrived or not. The event stays pending and keeps its id.
        sys.audit("sample_app.outbox.unanswered", event_id)
        _postpone(home, event_id, clock())
        return False
    except Conflict as error:
        _set_aside(home, event_id, one_line(error))
        sys.audit("sample_app.outbox.refused", event_id)
        return False
    sys.audit("sample_app.outbox.answered", event_id)
    _mark_delivered(home, event_id, clock())
    sys.audit("sample_app.outbox.marked", event_id)
    return True


def _postpone(home: Path, event_id: str, now: float) -> None:
    with db.app(home) as conn, db.transaction(conn):
        conn.execute(
            "UPDATE outbox SET offers = offers + 1, not_before = ? WHERE event_id = ?",
            (now + OFFER_AGAIN_AFTER, event_id),
        )


def _set_aside(home: Path, event_id: str, why: str) -> None:
    with db.app(home) as conn, db.transaction(conn):
        conn.execute("UPDATE outbox SET offers = offers + 1, refusal = ? WHERE event_id = ?", (why, event_id))
        sys.audit("sample_app.outbox.before_refused", event_id)


def _mark_delivered(home: Path, event_id: str, now: float) -> None:
    with db.app(home) as conn, db.transaction(conn):
        # Another dispatcher may have been first; the time of the first mark is kept.
        conn.execute(
            "UPDATE outbox SET offers = offers + 1, delivered_at = coalesce(delivered_at, ?) WHERE event_id = ?",
            (now, event_id),
        )
        sys.audit("sample_app.outbox.before_marked", event_id)
