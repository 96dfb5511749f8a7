"""A gateway that checks the generation, and then forwards the write.

Models a proxy in front of a store that knows no fencing. Between its two steps there is room for a
pause, a new holder, and the new holder's write.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db

TWIN = "sample_app.pages:write"
HARM = "The page falls back to the text of a worker that was replaced."
FAILS_AT = ("sample_app.page.checked+1:pause",)


def write(home: Path, page_id: str, version: int, generation: int, body: str, now: float) -> bool:
    with db.receiver(home) as conn:
        seen = conn.execute(
            "SELECT max(generation) FROM pages WHERE page_id = ? AND version = ?",
            (page_id, version),
        ).fetchone()[0]
    if seen is not None and seen > generation:
        return False
    sys.audit("sample_app.page.checked", page_id)
    # The mistake: what was true above needn't be true any more.
    with db.receiver(home) as conn:
        with db.transaction(conn):
            conn.execute(
                "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?)",
                (page_id, version, generation, body, now),
            )
        sys.audit("sample_app.page.written", page_id)
    return True
