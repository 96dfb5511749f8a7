"""An append-only file of JSON values that any process may extend and that survives every death.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import originals

_WHOLE = b"\t"
"""ends a line; JSON has no tab, and the kernel may cut a write short if the process is killed meanwhile"""


class Ledger:
    """Each entry is one line, and begins with the newline, so that one cut short by a death spoils none but itself."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def append(self, entry: object) -> None:
        """Add an entry at the end."""
        fd = originals.open_fd(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            originals.write(fd, b"\n" + originals.to_json(entry).encode() + _WHOLE)
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
        return [originals.from_json(line) for line in data.splitlines() if line.endswith(_WHOLE)]
