"""The JSON report. Its form is `docs/reference/report-schema.json`; `version` grows when that breaks readers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .gathering import Test

FORMAT = "pytest-crashwindow report"
VERSION = 1

Document = dict[str, Any]


@dataclass(frozen=True)
class RunFacts:
    """What is told of the run itself."""

    started: str
    """UTC, as ISO 8601 has it"""
    seconds: float
    exitstatus: int
    interrupted: str
    """why the run ended early; empty if it didn't"""
    versions: dict[str, str]
    """of the plugin, pytest and Python"""
    command: list[str]
    """the arguments that pytest was given"""


def document(tests: list[Test], run: RunFacts) -> Document:
    """All of a report as one value."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": dict(run.__dict__),
        "totals": totals(tests),
        "tests": tests,
    }


def totals(tests: Iterable[Test]) -> dict[str, Any]:
    """Counts over all tests."""
    tests = list(tests)
    windows = [window for test in tests for window in test["windows"]]
    return {
        "tests": len(tests),
        "unswept": sum(map(is_unswept, tests)),
        "known": sum(test["known"] for test in tests),
        "explored": len(windows),
        "fired": sum(window["verdict"] not in ("not reached", "error") for window in windows),
        "passed": sum(window["outcome"] == "passed" for window in windows),
        "failed": sum(window["outcome"] == "failed" for window in windows),
        "verdicts": _counted(window["verdict"] for window in windows),
    }


def is_unswept(test: Test) -> bool:
    """Whether a sweep came to nothing: its control failed, there was an error, it was skipped."""
    return test["kind"] == "sweep" and not test["windows"] and test["verdict"] != "passed"


def _counted(names: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def render(doc: Document) -> str:
    """The text of the file."""
    return json.dumps(doc, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
