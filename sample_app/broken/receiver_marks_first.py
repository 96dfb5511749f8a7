"""The receiver notes an event's id, and then does its work.

Models an inbox table that is committed on arrival. After a death in between, every repeat is
answered as a duplicate of something that never happened.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sample_app import db
from sample_app.digests import digest
from sample_app.receiver import Answer

TWIN = "sample_app.receiver:receive"
HARM = "The owner is never told; every repeat is answered as a duplicate."
FAILS_AT = ("sample_app.receiver.marked+1:crash", "sample_app.receiver.before_commit+1:crash")


def receive(home: Path, event_id: str, payload: dict[str, Any], now: float) -> Answer:
    sys.audit("sample_app.receiver.received", event_id)
    with db.receiver(home) as conn:
        # The mistake: "seen" is true before "done" is.
        with db.transaction(conn):
            new = conn.execute(
                "INSERT INTO inbox VALUES (?, ?, '0', ?) ON CONFLICT DO NOTHING",
                (event_id, digest(payload), now),
            ).rowcount
        sys.audit("sample_app.receiver.marked", event_id)
        if not new:
            return Answer(first=False, notification_id=0)
        with db.transaction(conn):
            notification_id = conn.execute(
                "INSERT INTO notifications (event_id, owner, text) VALUES (?, ?, ?)",
                (event_id, payload["owner"], payload["text"]),
            ).lastrowid
            sys.audit("sample_app.receiver.before_commit", event_id)
        sys.audit("sample_app.receiver.committed", event_id)
    return Answer(first=True, notification_id=notification_id or 0)
