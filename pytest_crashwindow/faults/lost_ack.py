"""`lost_ack`: the call took effect, and the caller gets an exception instead of the answer."""

from __future__ import annotations

from ..record import Fired
from .base import Action, Fault, Surroundings
from .raising import Raisable, check_raisable, exception_of


class LostAck(Fault):
    """A response lost on its way back.

    `TimeoutError`, the default, is an `OSError`, which some callers swallow; give the client's own
    exception where it has one.
    """

    name = "lost_ack"
    parameters = ("error",)
    ends = ("exit",)
    may_repeat = True

    def __init__(self, error: Raisable = TimeoutError) -> None:
        check_raisable(error)
        self.error = error

    def prepare(self) -> None:
        exception_of(self.error, "")

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        raise exception_of(self.error, f"crashwindow: answer lost at {fired.point}+{fired.ordinal}")
