"""The names of the audit events that CPython itself raises. Everything else is somebody's own."""

from __future__ import annotations

CPYTHON_EVENTS: frozenset[str] = frozenset({"open", "import", "compile", "exec"})
