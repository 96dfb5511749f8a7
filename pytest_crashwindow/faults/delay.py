"""`delay`: the point takes longer, as with a slow disk or network."""

from __future__ import annotations

from ..errors import BadOption
from ..record import Fired
from .base import Fault, Surroundings, Wait


class Delay(Fault):
    """`seconds` more at the point. At an attached `async def` the event loop goes on meanwhile."""

    name = "delay"
    parameters = ("seconds",)
    ends = ("enter",)
    required = ("seconds",)

    def __init__(self, seconds: float = 0.0) -> None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds < 0:
            raise BadOption(f"delay: seconds is a number, not negative; got {seconds!r}")
        self.seconds = seconds

    def act(self, fired: Fired, life: Surroundings) -> Wait:
        return Wait(self.seconds)
