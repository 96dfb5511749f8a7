"""The published pages: a store that protects itself.

It keeps the largest generation that it has seen, and compares and writes in one transaction. So a
worker that was paused past its lease is refused here, whatever it believes about itself.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

from . import db


def write(home: Path, page_id: str, version: int, generation: int, body: str, now: float) -> bool:
    """Publish a version of a page. False = a larger generation has been here; nothing changed."""
    with db.receiver(home) as conn:
        with db.transaction(conn):
            accepted = _compare_and_write(conn, page_id, version, generation, body, now)
            sys.audit("sample_app.page.before_commit", page_id)
        sys.audit("sample_app.page.written", page_id)
    return accepted


def fence(home: Path, page_id: str, version: int, generation: int, now: float) -> None:
    """Refuse everything older than `generation` from now on; what is published stays."""
    with db.receiver(home) as conn, db.transaction(conn):
        conn.execute(
            "INSERT INTO pages VALUES (?, ?, ?, NULL, ?) ON CONFLICT (page_id, version)"
            " DO UPDATE SET generation = max(generation, excluded.generation)",
            (page_id, version, generation, now),
        )


def read(home: Path, page_id: str) -> sqlite3.Row | None:
    """The newest published version of a page."""
    with db.receiver(home) as conn:
        row: sqlite3.Row | None = conn.execute(
            "SELECT * FROM pages WHERE page_id = ? AND body IS NOT NULL ORDER BY version DESC LIMIT 1",
            (page_id,),
        ).fetchone()
    return row


def address_of(job: sqlite3.Row) -> tuple[str, int]:
    """Page and version that a publish job is about."""
    payload = json.loads(job["payload"])
    return payload["page"], payload["version"]


def _compare_and_write(
    conn: sqlite3.Connection, page_id: str, version: int, generation: int, body: str, now: float
) -> bool:
    changed = conn.execute(
        "INSERT INTO pages VALUES (?, ?, ?, ?, ?) ON CONFLICT (page_id, version)"
        " DO UPDATE SET generation = excluded.generation, body = excluded.body,"
        " written_at = excluded.written_at WHERE excluded.generation >= generation",
        (page_id, version, generation, body, now),
    ).rowcount
    return bool(changed)
