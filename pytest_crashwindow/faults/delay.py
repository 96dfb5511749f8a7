"""`delay`: the point takes longer, as with a slow disk or network."""

from __future__ import annotations

import time

from ..errors import BadOption
from ..record import Fired
from .base import Action, Fault, Surroundings

_sleep = time.sleep  # the original: code under test may replace it


class Delay(Fault):
    """`seconds` more at the point. In a coroutine the whole event loop is late by that much."""

    name = "delay"
    parameters = ("seconds",)
    ends = ("enter",)
    required = ("seconds",)

    def __init__(self, seconds: float = 0.0) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds < 0:
            raise BadOption(f"delay: seconds is a number, not negative; got {seconds!r}")
        self.seconds = seconds

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        _sleep(self.seconds)
        return None
