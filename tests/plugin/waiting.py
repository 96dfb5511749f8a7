"""Waiting for what another process does: poll with a deadline that is generous, never a fixed sleep."""

from __future__ import annotations

import time
from collections.abc import Callable

DEADLINE = 30.0  # seconds; only a failing test waits that long


def wait_until(true: Callable[[], object], what: str = "it") -> None:
    """Return as soon as `true()` is; fail after a generous deadline."""
    end = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < end, f"waited {DEADLINE:g} s for {what}"
        time.sleep(0.005)
