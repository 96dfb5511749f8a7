"""Find the places where a crash, a lost reply or a pause loses work or does it twice.

The public names. Each is imported when it is first asked for: pytest imports this package in every run,
and one that doesn't use it should not notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import (
        BadOption,
        CrashWindowError,
        LifeNotOver,
        NotAttachable,
        OpenConnection,
        TooManyDeaths,
        UnattributedDeath,
        Unpicklable,
        UnseenError,
        UnsupportedPlatform,
        WorldBroken,
    )
    from .faults import Action, Fault, Surroundings, Wait
    from .fixture import CrashWindow
    from .lives import Life
    from .probes.base import Probe
    from .record import Fired
    from .windows import Step, Window

__version__ = "0.1.0"

_HOME = {
    "Action": "faults",
    "CrashWindow": "fixture",
    "Fault": "faults",
    "Fired": "record",
    "Life": "lives",
    "Probe": "probes.base",
    "Step": "windows",
    "Surroundings": "faults",
    "Wait": "faults",
    "Window": "windows",
}

__all__ = [
    "Action",
    "BadOption",
    "CrashWindow",
    "CrashWindowError",
    "Fault",
    "Fired",
    "Life",
    "LifeNotOver",
    "NotAttachable",
    "OpenConnection",
    "Probe",
    "Step",
    "Surroundings",
    "TooManyDeaths",
    "UnattributedDeath",
    "Unpicklable",
    "UnseenError",
    "UnsupportedPlatform",
    "Wait",
    "Window",
    "WorldBroken",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME.get(name, 'errors')}"), name)
