"""What the code under test did to the world outside, written where no crash reaches it."""

from __future__ import annotations

from pathlib import Path

from . import originals
from .ledger import Ledger


class Effects:
    """A ledger of effects: a fake mailer records a mail here, and the test counts.

    It stands for the other side of a call, which remembers what it was asked for whatever happens
    to the caller. `name` and `key` are texts; other keys are kept as `str(key)`.
    """

    def __init__(self, path: Path) -> None:
        self._ledger = Ledger(path)

    def record(self, name: str, key: object = "") -> None:
        """Note that the effect took place once more."""
        self._ledger.append([str(name), str(key), originals.monotonic_ns()])

    def count(self, name: str, key: object = None) -> int:
        """How often the effect took place, for one key or for all."""
        return sum(1 for k in self.keys(name) if key is None or k == str(key))

    def keys(self, name: str) -> list[str]:
        """The keys of the effect, one for each time it took place, in order."""
        return [k for n, k, _ in self._ledger.entries() if n == name]

    def all(self) -> list[tuple[str, str, int]]:
        """Every effect in order: name, key, and nanoseconds of the monotonic clock."""
        return [(n, k, at) for n, k, at in self._ledger.entries()]
