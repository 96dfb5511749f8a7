"""`delay`: the point takes longer, as with a slow disk or network."""

from __future__ import annotations

import time

from ..record import Fired
from .base import Action, Fault, Surroundings

_sleep = time.sleep  # the original: code under test may replace it


class Delay(Fault):
    """`seconds` more at the point. In a coroutine the whole event loop is late by that much."""

    name = "delay"
    ends = ("enter",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        _sleep(self.seconds)
        return None
