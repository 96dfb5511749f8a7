"""For the demo: run something in a process of its own that is killed at a named instant."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable


def dies_at(point: str, act: Callable[[], object]) -> bool:
    """Run `act` in a child that SIGKILLs itself when it passes the audit event `point`.

    Returns whether it died there. POSIX only.
    """
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _child(point, act)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _child(point: str, act: Callable[[], object]) -> None:
    def hook(event: str, args: tuple[object, ...]) -> None:
        if event == point:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    try:
        act()
        os._exit(0)
    finally:
        os._exit(1)
