"""The probes that come with the plugin."""

from __future__ import annotations

from .base import Probe
from .files import Files
from .http import Http
from .smtp import Smtp
from .sqlite3 import Sqlite3
from .subprocess import Subprocess

BUILT_IN: tuple[Probe, ...] = (Sqlite3(), Files(), Http(), Smtp(), Subprocess())

__all__ = ["BUILT_IN", "Files", "Http", "Probe", "Smtp", "Sqlite3", "Subprocess"]
