"""Time is a callable that returns seconds, and is always passed in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from .errors import ClockWentBack

Clock = Callable[[], float]
Wait = Callable[[float], None]

SKEW = 5.0  # seconds by which two machines' clocks may honestly differ


def check_not_backwards(conn: sqlite3.Connection, now: float) -> None:
    """Refuse to judge leases and ages by a clock that is behind the recorded history."""
    row = conn.execute("SELECT at FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    if row is not None and now < row["at"] - SKEW:
        raise ClockWentBack(f"clock says {now:.0f}, but something was recorded at {row['at']:.0f}; nothing was changed")
