"""The scenario that all ways of sweeping share: jobs of the sample app are committed and delivered."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from sample_app import db, jobs, receiver, worker
from sample_app.demo import PAYLOAD, Hands

JOBS = 2
POINTS = ["sample_app.*", "sqlite3.connect"]  # audit events, which a loop by hand can count as well


def prepare(home: Path) -> None:
    """A home with registered jobs."""
    db.init(home)
    for number in range(JOBS):
        jobs.register(home, f"job-{number}", {**PAYLOAD, "customer": f"c-{number}"}, 0.0)


def work(home: Path) -> None:
    """Commit every job and deliver its event."""
    clock = Hands()

    def wait(seconds: float) -> None:
        clock.now += seconds

    worker.run_until_idle(home, "A", clock, wait)


def holds(home: Path) -> bool:
    """Every job done, every event delivered once."""
    done = [row["state"] for row in jobs.everything(home)]
    inbox = receiver.inbox(home)
    return done == ["done"] * JOBS and len(inbox) == len(set(inbox)) == JOBS


def die_at(window: str) -> Callable[[str, tuple[object, ...]], None]:
    """An audit hook that kills this process at `POINT+N`."""
    name, _, nth = window.partition("+")
    left = int(nth)

    def hook(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event == name:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return hook


if __name__ == "__main__":  # a fresh interpreter: work, and die at a window if one is given
    if len(sys.argv) > 2:
        sys.addaudithook(die_at(sys.argv[2]))
    work(Path(sys.argv[1]))
