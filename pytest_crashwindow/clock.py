"""A clock that stands still until the test moves it, the same one in every life of a world."""

from __future__ import annotations

import math
from pathlib import Path

from .ledger import Ledger


class Clock:
    """Seconds since the test began, by hand. Inject it where the code under test asks for the time.

    Nothing is patched: `time.time()` goes on as ever.
    """

    def __init__(self, path: Path) -> None:
        self._ledger = Ledger(path)

    def __call__(self) -> float:
        """The time in seconds; 0.0 at first."""
        return self.now()

    def now(self) -> float:
        """The time in seconds; 0.0 at first."""
        return math.fsum(self._ledger.entries())

    def advance(self, seconds: float) -> float:
        """Move the clock by `seconds` for all lives of this world; the new time. May be negative."""
        self._ledger.append(float(seconds))
        return self.now()
