"""`pause`: the life stops at the point and goes on when the test resumes it."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BadOption
from ..record import Fired
from .base import Action, Fault, Surroundings


class Pause(Fault):
    """A long garbage collection, a migrating machine, a sleeping laptop.

    `scope="life"` is SIGSTOP for all its processes, heartbeats and all: the stale worker that wakes
    after its lease. `scope="thread"` holds only the thread that passes, for two workers in one
    process; `hold` names points at which other threads of that process are held as well.
    """

    name = "pause"

    def __init__(self, scope: str = "life", hold: Sequence[str] = ()) -> None:
        if scope not in ("life", "thread"):
            raise BadOption(f'pause: scope is "life" or "thread", not {scope!r}')
        if hold and scope != "thread":
            raise BadOption('pause: hold=[...] holds threads and needs scope="thread"')
        self.scope = scope
        self.hold = (hold,) if isinstance(hold, str) else tuple(hold)

    def also_at(self) -> tuple[str, ...]:
        return self.hold

    def act(self, fired: Fired, life: Surroundings) -> Action | None:
        if self.scope == "thread":
            life.hold_thread(self.hold)
        else:
            life.stop_life()
        return None
