"""The receiver: another system, which may be offered the same event any number of times.

The event's id and the work for it are stored in one transaction. "Seen this id" is never true
without "did the work".
"""

from __future__ import annotations

import json
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import db
from .digests import canonical, digest
from .errors import Conflict


@dataclass(frozen=True)
class Answer:
    """`first` is False for a repeat; everything else is the first answer, word by word."""

    first: bool
    notification_id: int


def receive(home: Path, event_id: str, payload: dict[str, Any], now: float) -> Answer:
    """Accept an event; a repeat gets the first answer and does nothing."""
    sys.audit("sample_app.receiver.received", event_id)
    with db.receiver(home) as conn:
        with db.transaction(conn):
            known = _known(conn, event_id, digest(payload))
            if known is not None:
                return known
            answer = _work(conn, event_id, payload, now)
            sys.audit("sample_app.receiver.before_commit", event_id)
        sys.audit("sample_app.receiver.committed", event_id)
    return answer


def inbox(home: Path) -> list[str]:
    """The ids of all events that were accepted."""
    with db.receiver(home) as conn:
        return [row["event_id"] for row in conn.execute("SELECT * FROM inbox ORDER BY rowid")]


def notifications(home: Path) -> list[tuple[str, str]]:
    """(event id, text) of everything that an owner was told."""
    with db.receiver(home) as conn:
        rows = conn.execute("SELECT * FROM notifications ORDER BY notification_id")
        return [(row["event_id"], row["text"]) for row in rows]


def _known(conn: sqlite3.Connection, event_id: str, payload_digest: str) -> Answer | None:
    row = conn.execute("SELECT * FROM inbox WHERE event_id = ?", (event_id,)).fetchone()
    if row is None:
        return None
    if row["payload_digest"] != payload_digest:
        raise Conflict(f"event {event_id!r} came before with another content")
    return Answer(first=False, notification_id=json.loads(row["answer"]))


def _work(conn: sqlite3.Connection, event_id: str, payload: dict[str, Any], now: float) -> Answer:
    notification_id = conn.execute(
        "INSERT INTO notifications (event_id, owner, text) VALUES (?, ?, ?)",
        (event_id, payload["owner"], payload["text"]),
    ).lastrowid
    assert notification_id is not None
    conn.execute(
        "INSERT INTO inbox VALUES (?, ?, ?, ?)",
        (event_id, digest(payload), canonical(notification_id), now),
    )
    return Answer(first=True, notification_id=notification_id)
