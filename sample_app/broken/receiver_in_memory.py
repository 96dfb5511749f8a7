"""The receiver remembers the events it has seen, in memory.

Models a set, an LRU cache, or the cache server that is emptied with each deployment. It is correct
until the first restart.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sample_app import db
from sample_app.receiver import Answer

TWIN = "sample_app.receiver:receive"
HARM = "The owner gets the same notice twice."
FAILS_AT = (
    "sample_app.receiver.committed+1:crash",
    "sample_app.outbox.answered+1:crash",
    "sample_app.outbox.before_marked+1:crash",
)

_seen: dict[str, int] = {}


def receive(home: Path, event_id: str, payload: dict[str, Any], now: float) -> Answer:
    sys.audit("sample_app.receiver.received", event_id)
    # The mistake: this dies with the process, and the row below doesn't.
    if event_id in _seen:
        return Answer(first=False, notification_id=_seen[event_id])
    with db.receiver(home) as conn:
        with db.transaction(conn):
            notification_id = conn.execute(
                "INSERT INTO notifications (event_id, owner, text) VALUES (?, ?, ?)",
                (event_id, payload["owner"], payload["text"]),
            ).lastrowid
            sys.audit("sample_app.receiver.before_commit", event_id)
        sys.audit("sample_app.receiver.committed", event_id)
    _seen[event_id] = notification_id or 0
    return Answer(first=True, notification_id=_seen[event_id])
