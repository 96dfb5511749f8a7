"""The section at the end of a run. Nothing when no sweep ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..choosing import DESELECTED
from . import matrix
from .wording import counted

Summary = dict[str, Any]
"""a sweep as its report carries it; see SweepProtocol._summary"""

_SLOWEST = 3


def lines(
    sweeps: Sequence[Summary], verbose: bool, width: int = 80, paint: matrix.Paint = matrix.unpainted
) -> list[str]:
    """The whole section, in `width` columns; `paint` gives colour on a terminal that has it."""
    listed = [line for sweep in sweeps if sweep["listed"] for line in listing(sweep)]
    told = [
        line
        for sweep in sweeps
        if verbose or worth_telling(sweep)
        for line in [*one(sweep), *(rebound(sweep) if verbose else ()), *table(sweep, verbose, width, paint)]
    ]
    return [*listed, *told, totals(sweeps), *slowest(sweeps)]


def progress(done: int, known: int, seconds: float) -> str:
    """How far the windows of a run have come, and how fast; at least `seconds` long."""
    return f"crash windows: {done} of {known} known, {done / seconds:.1f} per s"


def listing(sweep: Summary) -> list[str]:
    """What `--crashwindow-list` shows of a sweep."""
    points = [f"  point   {point}" for point in sweep["points"]]
    windows = [f"  window  {window}" for window in sweep["listed"]]
    head = f"{sweep['test']}: {counted(len(points), 'point')}, {counted(len(windows), 'window')}"
    return [head, *rebound(sweep), *points, *windows]


def rebound(sweep: Summary) -> list[str]:
    """The calls that had to be replaced under each of their names: too few, and some caller goes past the points."""
    return [f"  {call}: attached under {counted(n, 'name')}" for call, n in sweep["rebound"].items()]


def worth_telling(sweep: Summary) -> bool:
    """Whether a sweep was anything but complete and green."""
    return bool(sweep["verdict"] != "passed" or sweep["stopped"] or sweep["notes"])


def one(sweep: Summary) -> list[str]:
    """One sweep in a line, and its notes."""
    failed = [w for w in sweep["windows"] if w["outcome"] == "failed"]
    passed = [w for w in sweep["windows"] if w["outcome"] == "passed"]
    whole = len(passed) == len(sweep["windows"]) and sweep["verdict"] != "incomplete"
    good = "all passed" if whole else f"{len(passed)} passed"
    verdict = sweep["verdict"] if not sweep["windows"] else f"{len(failed)} failed" if failed else good
    why = f" ({sweep['stopped']})" if sweep["stopped"] else ""
    said = "" if sweep["stopped"] == DESELECTED and not sweep["windows"] else f", {verdict}"
    head = f"{sweep['test']}: explored {sweep['explored']} of {sweep['known']} windows{why}{said}"
    kinds = _counted(w["verdict"] for w in failed if w["verdict"] != "failed")
    more = f" ({', '.join(f'{n} {kind}' for kind, n in kinds.items())})" if kinds else ""
    return [head + more, *(f"  {note}" for note in sweep["notes"])]


def table(sweep: Summary, verbose: bool, width: int, paint: matrix.Paint) -> list[str]:
    """Points and faults of a sweep, where some window failed or everything is to be told."""
    if not verbose and all(window["outcome"] != "failed" for window in sweep["windows"]):
        return []
    return matrix.text(matrix.of(sweep["points"], sweep["windows"]), width, paint)


def totals(sweeps: Sequence[Summary]) -> str:
    """All sweeps in a line, by fault."""
    windows = [w for sweep in sweeps for w in sweep["windows"]]
    known = sum(sweep["known"] for sweep in sweeps)
    fired = [w for w in windows if w["verdict"] not in ("not reached", "error")]
    passed = [w for w in windows if w["outcome"] == "passed"]
    faults = _counted(w["fault"] for w in windows)
    good = _counted(w["fault"] for w in passed)
    by_fault = ", ".join(f"{fault} {good.get(fault, 0)}/{n}" for fault, n in faults.items())
    detail = f" (passed: {by_fault})" if by_fault else ""
    exist = "window exists" if known == 1 else "windows exist"
    return (
        f"{counted(len(sweeps), 'sweep')}: {known} {exist}, {len(windows)} explored, {len(fired)} fired, "
        f"{len(passed)} passed{detail}"
    )


def slowest(sweeps: Sequence[Summary]) -> list[str]:
    """The slowest windows, if any took long enough to care."""
    timed = [(w["seconds"], f"{sweep['test']} {w['window']}") for sweep in sweeps for w in sweep["windows"]]
    slow = sorted((t for t in timed if t[0] >= 0.5), reverse=True)[:_SLOWEST]
    return [f"slow: {seconds:.2f} s {name}" for seconds, name in slow]


def _counted(names: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts
