"""Find the places where a crash, a lost reply or a pause loses work or does it twice."""

from __future__ import annotations

__version__ = "0.1.0"
