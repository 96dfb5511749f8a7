"""What report files tell, put together from the reports of tests as they come.

A sweep's own report comes last, and may never come: after Ctrl-C, `-x` or the death of a worker there are
only the windows that were done.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from ..windows import parse
from . import matrix

Test = dict[str, Any]
Window = dict[str, Any]


class Gathering:
    """Sweeps, windows that ran alone, and tests that arm faults by name."""

    def __init__(self) -> None:
        self._summaries: dict[str, dict[str, Any]] = {}
        self._windows: dict[str, dict[str, Window]] = {}
        self._alone: set[str] = set()
        self._armed: set[str] = set()

    def take(self, report: Any) -> None:
        """Look at a report; most have nothing for us."""
        known = report.__dict__
        if "crashwindow_record" in known:
            self._add(known["crashwindow_record"])
        if "crashwindow_alone" in known:
            record = known["crashwindow_alone"]
            self._add(record)
            (self._armed if record.get("armed") else self._alone).add(record["test"])
        summary = known.get("crashwindow_sweep") or known.get("crashwindow_unswept")
        if summary:
            self._windows.setdefault(summary["test"], {})
            self._summaries[summary["test"]] = summary

    def _add(self, record: Window) -> None:
        self._windows.setdefault(record["test"], {})[record["window"]] = record

    def tests(self) -> list[Test]:
        """All of them, in the order in which something was first heard of each."""
        return [self._test(test, windows) for test, windows in self._windows.items()]

    def _test(self, test: str, singly: dict[str, Window]) -> Test:
        summary = self._summaries.get(test) or self._missing(test, singly)
        windows = {window["window"]: window for window in summary["windows"]} | singly
        timeline = summary["control"]
        return {
            "test": test,
            "kind": "armed" if test in self._armed else "sweep",
            "verdict": summary["verdict"],
            "known": summary["known"],
            "explored": len(windows),
            "stopped": summary["stopped"],
            "notes": list(summary["notes"]),
            "points": list(summary["points"]),
            "rerun": summary["rerun"],
            "message": summary["message"],
            "failure": summary["failure"],
            "control": timeline,
            "windows": [_complete(w) for w in _in_order(windows.values(), summary["points"], timeline)],
        }

    def _missing(self, test: str, windows: dict[str, Window]) -> dict[str, Any]:
        """What can be said of a sweep that didn't get to its end."""
        summary = unfinished(test, list(windows.values()))
        if test in self._alone or test in self._armed:
            failed = any(window["outcome"] == "failed" for window in windows.values())
            summary["verdict"] = "failed" if failed else "passed"
            summary["stopped"] = "" if test in self._armed else "windows by id"
        return summary


def unfinished(test: str, windows: list[Window]) -> dict[str, Any]:
    """The summary of a sweep that never gave one itself, from the windows that were done."""
    known = max((window.get("known", 0) for window in windows), default=0)
    failed = any(window["outcome"] == "failed" for window in windows)
    return {
        "test": test,
        "verdict": "failed" if failed else "incomplete",
        "known": max(known + sum(window.get("deeper", 0) for window in windows), len(windows)),
        "explored": len(windows),
        "stopped": "the run ended before the sweep did",
        "notes": [],
        "rebound": {},
        "points": [],
        "control": [],
        "message": "",
        "failure": "",
        "rerun": f"pytest {shlex.quote(test)}",
        "listed": [],
        "windows": windows,
    }


def _complete(window: Window) -> Window:
    """All that a report file tells of a window; one whose worker died has no story."""
    parsed = parse(window["window"])
    text = window.get("text", "")
    return {
        "window": window["window"],
        "point": parsed.point if parsed else window.get("point", ""),
        "fault": parsed.fault if parsed else window.get("fault", ""),
        "steps": [{"point": s.point, "hit": s.hit, "fault": s.fault} for s in parsed.steps] if parsed else [],
        "verdict": window["verdict"],
        "outcome": window["outcome"],
        "reason": window.get("reason", ""),
        "seconds": round(window["seconds"], 4),
        "rerun": window.get("rerun", ""),
        "message": window.get("message", text),
        "failure": window.get("failure", text),
        "hint": window.get("hint"),
        "fired": window.get("fired", []),
        "timeline": window.get("timeline", []),
        "output": window.get("output", []),
    }


def _in_order(windows: Iterable[Window], points: list[str], control: list[dict[str, Any]]) -> list[Window]:
    """As the control passed them, whichever worker was first; what it didn't pass comes last."""
    hits = {entry["name"]: i for i, entry in enumerate(control) if entry["kind"] == "point"}
    names = {point: i for i, point in enumerate(points)}

    def place(window: Window) -> list[tuple[int, int, int, tuple[int, str]]]:
        parsed = parse(window["window"])
        return [
            (
                hits.get(f"{step.point}+{step.hit}", len(control)),
                names.get(step.point, len(names)),
                step.hit,
                matrix.place_of(step.fault),
            )
            for step in (parsed.steps if parsed else ())
        ]

    return sorted(windows, key=place)


def node_of(test: str, window: str) -> str:
    """The node id of a window."""
    return f"{test[:-1]}-{window}]" if test.endswith("]") else f"{test}[{window}]"
