"""`duplicate`: an attached call is performed twice, as an at-least-once transport does."""

from __future__ import annotations

from ..record import Fired
from .base import Action, Fault, Surroundings


class Duplicate(Fault):
    """The call happens twice with the same arguments; the caller gets the second answer."""

    name = "duplicate"
    ends = ("enter",)
    only_calls = True

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        return Action.TWICE
