"""The faults that come with the plugin, in the order in which a sweep tries them at one point."""

from __future__ import annotations

from .base import Action, Fault, Surroundings, Wait
from .crash import Crash
from .delay import Delay
from .duplicate import Duplicate
from .error import Error
from .lost_ack import LostAck
from .pause import Pause

BUILT_IN: tuple[Fault, ...] = (Crash(), LostAck(), Error(), Pause(), Duplicate(), Delay())

__all__ = [
    "BUILT_IN",
    "Action",
    "Crash",
    "Delay",
    "Duplicate",
    "Error",
    "Fault",
    "LostAck",
    "Pause",
    "Surroundings",
    "Wait",
]
