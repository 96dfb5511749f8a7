"""What the tests of sweeps share: a program with one hole, and reading what pytest said about its windows."""

from __future__ import annotations

import re

import pytest

WORK = """
import sys, pytest

def work(disk):
    if (disk / "begun").exists():
        return  # a recovery that takes begun for done
    sys.audit("work.a")
    (disk / "begun").touch()
    sys.audit("work.b")
    (disk / "done").touch()
    sys.audit("work.c")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    crashwindow.supervise(work, tmp_path)
    assert (tmp_path / "done").exists()
"""
"""three windows, of which the second fails"""

A, B, C = (f"test_work[work.{point}+1:crash]" for point in "abc")
OF_WORK = {A: "PASSED", B: "FAILED", C: "PASSED", "test_work": "FAILED"}

_ALONE = re.compile(r"^\S+\.py::(?:\w+::)*(.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b")
_WORKER = re.compile(r"^\[gw\d+\] \[ *\d+%\] (\w+) \S+\.py::(?:\w+::)*(.+?) *$")


def outcomes(result: pytest.RunResult) -> dict[str, str]:
    """From `-v`: name -> outcome, in the order of reporting. A name that is reported twice is an error."""
    found: dict[str, str] = {}
    for line in result.outlines:
        alone, worker = _ALONE.match(line), _WORKER.match(line)
        if alone:
            name, outcome = alone.groups()
        elif worker:
            outcome, name = worker.groups()
        else:
            continue
        assert name not in found, f"{name} is reported twice"
        found[name] = outcome
    return found


def windows(result: pytest.RunResult) -> list[str]:
    """From `-v`: the ids of the windows, in the order of reporting."""
    names = [re.fullmatch(r"\w+\[(.*)\]", name) for name in outcomes(result)]
    return [name[1] for name in names if name]


def section(result: pytest.RunResult) -> list[str]:
    """The lines of the plugin's own section at the end."""
    text = result.stdout.str()
    found = re.search(r"^=+ crash windows =+\n(.*?)^=", text, re.MULTILINE | re.DOTALL)
    return found[1].splitlines() if found else []
