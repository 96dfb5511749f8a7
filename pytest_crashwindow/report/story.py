"""A failed window as a story: what happened, where in the code, what it looks like, how to run it again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from types import FunctionType, ModuleType

import pytest

from ..record import Fired
from ..windows import Step
from ..worlds import Outcome
from . import evidence
from .kinds import IN_MEMORY
from .sweeps import blocked, rerun, rerun_sweep
from .wording import passed_points

_AROUND = 2  # lines of code before and after the one where a fault acted

_MOCK = os.path.join("unittest", "mock.py")
_OUTSIDE_MEMORY = ("crashwindow", "request", "tmp_path", "tmp_path_factory", "_crashwindow_pin")
"""fixtures whose state is in files"""
_UNCHANGING = (str, bytes, int, float, type(None), frozenset, PurePath, ModuleType, FunctionType, type)

_HAPPENED = {
    "crash": "was killed {right} {point}",
    "lost_ack": "lost the answer of {point}",
    "error": "got an error {right} {point}",
    "pause": "was paused {right} {point}",
    "duplicate": "made the call {point} twice",
    "delay": "was held up {right} {point}",
}


def of(item: pytest.Item, outcome: Outcome) -> str:
    """The section of a failed report; empty where no fault fired and none was to."""
    world = outcome.world
    fired = world.fired()
    if not fired and world.window is None:
        return str(IN_MEMORY) if outcome.own_memory else ""
    lines = [f"{outcome.verdict}: {in_words(fired) or 'no fault fired'}"]
    for place in dict.fromkeys(tuple(code_around(one, item.config.rootpath)) for one in fired):
        lines += place
    if outcome.verdict == "not reached":
        lines.append(f"no life reached this window in this run.\n{passed_points(world.hits())}")
    lines += blocked(world)
    if outcome.hint is not None:
        lines.append(str(outcome.hint))
    again = rerun(item, world.window) if world.window else rerun_sweep(item, item.nodeid)
    return evidence.shortener(item)("\n".join(lines)) + f"\nrun it again: {again}"


def of_control(item: pytest.Item, report: pytest.TestReport, control: Outcome) -> str:
    """The section of a control that failed."""
    lines = [f"control {control.verdict}: this happened without any fault, so no window was tried"]
    if control.own_memory or _asserts_on_memory(item, report):
        lines.append(str(IN_MEMORY))
    return "\n".join(lines)


def _asserts_on_memory(item: pytest.Item, report: pytest.TestReport) -> bool:
    """Whether an assertion of the test body failed that may look at what fixtures or mocks remember."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None or not str(crash.message).startswith(("assert ", "AssertionError")):
        return False
    if str(crash.path).endswith(_MOCK):
        return True
    fixtures: dict[str, object] = item.funcargs  # type: ignore[attr-defined]
    used = (value for name, value in fixtures.items() if name not in _OUTSIDE_MEMORY)
    return str(crash.path) == str(item.path) and any(map(_may_remember, used))


def _may_remember(value: object) -> bool:
    """Whether something can change in memory while the test runs."""
    if isinstance(value, tuple):
        return any(map(_may_remember, value))
    return not isinstance(value, _UNCHANGING)


def in_words(fired: Sequence[Fired]) -> str:
    """`life 'worker' was killed right after shop.order.committed, passed for the 2nd time`."""
    return ", then ".join(_step_in_words(one) for one in fired)


def _step_in_words(fired: Fired) -> str:
    step = Step(fired.point, fired.ordinal, fired.fault)
    call, _, end = step.point.rpartition(":")
    right = {"enter": "at the entry of", "exit": "right after"}.get(end, "right at")
    point = call if end in ("enter", "exit") else step.point
    what = _HAPPENED.get(step.fault, f"met {step.fault} {{right}} {{point}}").format(right=right, point=point)
    nth = "" if step.hit == 1 else f", passed for the {_nth(step.hit)} time"
    return f"life {fired.life!r} {what}{nth}"


def _nth(n: int) -> str:
    ending = "th" if 10 <= n % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def code_around(fired: Fired, root: Path) -> list[str]:
    """The line where the fault acted and its neighbours, as a debugger shows them."""
    source = evidence.source_of(fired, root)
    if source is None:
        return []
    first = max(source["first"], source["line"] - _AROUND)
    lines = [f"  {source['file']}:{source['line']} in {source['function']}"]
    for number, text in enumerate(source["lines"], source["first"]):
        if first <= number <= source["line"] + _AROUND:
            lines.append(f"  {'>' if number == source['line'] else ' '} {number:4}  {text}".rstrip())
    return lines
