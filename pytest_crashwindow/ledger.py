"""An append-only file of JSON values that any process may extend and that survives every death.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import originals


class Ledger:
    """Each entry is one line, written in one piece; an entry cut short by a death is not read."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def append(self, entry: object) -> None:
        """Add an entry at the end."""
        fd = originals.open_fd(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            originals.write(fd, originals.to_json(entry).encode() + b"\n")
        finally:
            originals.close(fd)

    def entries(self) -> list[Any]:
        """All entries in the order of writing."""
        try:
            fd = originals.open_fd(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        try:
            data = originals.pread(fd, originals.fstat(fd).st_size, 0)
        finally:
            originals.close(fd)
        return [originals.from_json(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
