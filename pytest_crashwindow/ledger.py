"""An append-only file of JSON values that any process may extend and that survives every death.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

# Kept before any probe replaces them: what the plugin does itself must never be a hit.
_open, _write, _close, _pread, _fstat = os.open, os.write, os.close, os.pread, os.fstat


class Ledger:
    """Each entry is one line, written in one piece; an entry cut short by a death is not read."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def append(self, entry: object) -> None:
        """Add an entry at the end."""
        fd = _open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _write(fd, json.dumps(entry).encode() + b"\n")
        finally:
            _close(fd)

    def entries(self) -> list[Any]:
        """All entries in the order of writing."""
        try:
            fd = _open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return []
        try:
            data = _pread(fd, _fstat(fd).st_size, 0)
        finally:
            _close(fd)
        return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]
