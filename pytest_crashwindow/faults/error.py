"""`error`: the caller gets an exception and the call doesn't happen."""

from __future__ import annotations

from ..record import Fired
from .base import Action, Fault, Surroundings
from .raising import Raisable, check_raisable, exception_of


class Error(Fault):
    """A request lost on its way, a full disk, a locked database.

    At an `:enter` the call does not happen; at any other point the exception is raised there.
    """

    name = "error"
    parameters = ("error",)
    ends = ("enter",)
    required = ("error",)
    may_repeat = True

    def __init__(self, error: Raisable = OSError) -> None:
        check_raisable(error)
        self.error = error

    def prepare(self) -> None:
        exception_of(self.error, "")

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        raise exception_of(self.error, f"crashwindow: error at {fired.point}+{fired.ordinal}")
