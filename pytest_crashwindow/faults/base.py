"""What a fault is. Each fault is one file beside this one, listed in `faults/__init__.py`.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Union

from ..record import Fired


class Action(enum.Enum):
    """What a fault asks of the attached call at whose entry it fired."""

    TWICE = "perform the call twice; the caller gets the second answer"


@dataclass(frozen=True)
class Wait:
    """What a fault asks of the point at which it fired: to take so much longer.

    An attached `async def` awaits it, so that only its caller is late; elsewhere the thread sleeps.
    """

    seconds: float


Asked = Union[Action, Wait]  # noqa: UP007  # evaluated on Python 3.9
"""what a fault may ask for"""


class Surroundings(Protocol):
    """What a fault may use of the life in which it fires."""

    def die(self) -> None:
        """End this process at once; does not return."""

    def stop_life(self) -> None:
        """SIGSTOP the whole life; returns when it is resumed."""

    def hold_thread(self, also_at: tuple[str, ...]) -> None:
        """Stop this thread, and others of this process that pass `also_at`, until it is resumed."""


class Fault:
    """One kind of fault, with its parameters.

    Subclass it for a fault of your own and return an instance from `pytest_crashwindow_faults`.
    """

    name: ClassVar[str]
    """as it stands in ids; `[a-z_]+`"""
    ends: ClassVar[tuple[str, ...]] = ("enter", "exit")
    """where it makes sense on a call that is named without `:enter` or `:exit`"""
    only_calls: ClassVar[bool] = False
    """whether it needs an attached call, because it acts on the call itself"""

    required: ClassVar[tuple[str, ...]] = ()
    """parameters that a marker takes right after the point"""
    parameters: ClassVar[tuple[str, ...]] = ()
    """what a sweep may give as `{glob: value}`: one name, or none"""
    may_repeat: ClassVar[bool] = False
    """whether `nth=None` (every hit) makes sense"""
    deadly: ClassVar[bool] = False
    """whether the process ends by it, so that its record explains a death"""

    def prepare(self) -> None:
        """Make sure that it can act. Called in the life, before the record is written. Raises BadOption."""

    def also_at(self) -> tuple[str, ...]:
        """Other points that its parameters name, besides the one where it fires."""
        return ()

    def act(self, fired: Fired, life: Surroundings) -> Asked | None:
        """Do it, or ask for it. Called in the life, after the record is written."""
        raise NotImplementedError

    def configured(self, **parameters: Any) -> Fault:
        """This fault with other parameters, as a marker gives them. Raises TypeError or BadOption."""
        return type(self)(**parameters) if parameters else self

    def __repr__(self) -> str:
        return self.name
