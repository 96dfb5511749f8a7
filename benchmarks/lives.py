"""A life: fork, run an empty function, reap. From a process of about 70 MB, with all probes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_crashwindow import probes
from pytest_crashwindow.arming import Faults
from pytest_crashwindow.connections import OpenedAt
from pytest_crashwindow.faults import BUILT_IN
from pytest_crashwindow.fixture import CrashWindow, Plan
from pytest_crashwindow.world import World

from .measuring import per_call, table
from .points import empty


def grow_to(megabytes: int) -> list[dict[int, str]]:
    """Ordinary objects until the process has that size."""
    ballast = []
    while _resident() < megabytes:
        ballast.append({n: str(n) for n in range(1000)})
    return ballast


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def a_life(repeat: int) -> None:
    """Beside a bare fork and a fresh interpreter."""
    ballast = grow_to(70)
    with tempfile.TemporaryDirectory() as folder:
        rows = [("bare fork, _exit, waitpid", per_call(_bare_fork, repeat))]
        plan = Plan(Faults(BUILT_IN), list(probes.BUILT_IN))
        crashwindow = CrashWindow(Path(folder) / "item", plan, OpenedAt())
        crashwindow.prepare_lives()
        crashwindow.enter_world(World(Path(folder) / "world", Faults(BUILT_IN)), lambda name, value: None)
        rows.append(("a life", per_call(lambda: crashwindow.run(empty), repeat)))
        rows.append(("a fresh interpreter", per_call(_interpreter, max(3, repeat // 3))))
        crashwindow.close()
    table(f"A life from a process of {_resident():.0f} MB", rows, "ms")
    del ballast


def _bare_fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _interpreter() -> None:
    subprocess.run([sys.executable, "-c", "import sqlite3, json"], check=True)
