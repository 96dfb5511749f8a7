"""`crash`: the process dies at the point, as by `kill -9`, the OOM killer or a stopped container."""

from __future__ import annotations

from ..record import Fired
from .base import Action, Fault, Surroundings


class Crash(Fault):
    """SIGKILL: no `finally`, no `atexit`, no flush, no rollback by Python."""

    name = "crash"
    deadly = True

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        life.die()
        return None
