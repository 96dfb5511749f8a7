"""A point in production, and a hit in a life."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pytest_crashwindow.tracker import Lifeline, Orders, Tracker

from .measuring import per_call, table


def empty() -> None:
    """What everything is compared with."""


def production(repeat: int) -> None:
    """`sys.audit` with nothing listening, as in production: the plugin isn't even imported there."""
    code = (
        "import sys, timeit\n"
        "def empty(): pass\n"
        "number = 200000\n"
        f"call = min(timeit.repeat('empty()', globals=globals(), repeat={repeat}, number=number)) / number\n"
        f"audit = min(timeit.repeat('audit(\"shop.paid\", 1)', 'from sys import audit', repeat={repeat}, "
        "number=number)) / number\n"
        "print(call, audit)"
    )
    call, audit = (float(x) for x in subprocess.check_output([sys.executable, "-c", code]).split())
    table("A point in production", [("an empty Python call", call), ('sys.audit("shop.paid", 1)', audit)], "ns")


def in_a_life(repeat: int) -> None:
    """A hit that no window waits for: recorded, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "fired").mkdir()
        tracker = Tracker()
        tracker.begin(Orders(Path(folder)), Lifeline("life", 0, -1, -1, Path(folder) / "stacks"))
        rows = [
            ("an empty Python call", per_call(empty, repeat, 20000)),
            ("a hit without a matching window", per_call(lambda: sys.audit("shop.paid", "o-1"), repeat, 20000)),
            ("an audit event that is no point", per_call(lambda: sys.audit("sys._getframe", 1), repeat, 20000)),
        ]
        tracker.active = False
    table("A hit in a life", rows, "us")
