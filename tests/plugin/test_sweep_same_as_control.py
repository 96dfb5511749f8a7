"""`same_as_control`: the invariant for people who have none yet."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import outcomes

LEDGER = """
import sys, pytest

def work(path):
    lines = path.read_text().splitlines() if path.exists() else []
    for number in range(3):
        with open(path, "a") as file:
            file.write(f"line {number}\\n")
        sys.audit("work.line")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    crashwindow.supervise(work, tmp_path / "ledger")
    crashwindow.same_as_control((tmp_path / "ledger").read_text().splitlines(), "ledger")
"""
MESSAGE = [
    "*AssertionError: ledger differs from the control (left: this window, right: control)",
    "E * assert [[]'line 0', *[]] == [[]'line 0', 'line 1', 'line 2'[]]",
    "E * At index 1 diff: 'line 0' != 'line 1'",
    "E * Left contains one more item: 'line 2'",
]


def test_a_window_that_differs_fails_with_pytests_diff(run: Run) -> None:
    result = run(LEDGER, "-v")
    assert list(outcomes(result).values()) == ["FAILED"] * 4
    result.stdout.fnmatch_lines(MESSAGE)


def test_a_pasted_window_is_compared_with_a_control_of_its_own(run: Run) -> None:
    result = run(LEDGER, "-v", "test_it.py::test_work[work.line+1:crash]")
    assert outcomes(result) == {"test_work[work.line+1:crash]": "FAILED"}
    result.stdout.fnmatch_lines(MESSAGE)


@pytest.mark.parametrize("option", ["", "--crashwindow-window=work.line+1:crash"])
def test_what_recovers_passes(run: Run, option: str) -> None:
    mended = LEDGER.replace("range(3)", "range(len(lines), 3)")
    assert run(mended, *filter(None, [option])).ret == 0


def test_values_without_a_name_are_told_apart_by_their_order(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            life = crashwindow.run(sys.audit, "work.a")
            crashwindow.same_as_control("the same")
            crashwindow.same_as_control(life.crashed)
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*value 2 differs from the control*", "*assert True == False*"])


def test_outside_a_sweep_it_says_what_is_missing(run: Run) -> None:
    result = run("def test_work(crashwindow):\n    crashwindow.same_as_control(1)\n")
    result.stdout.fnmatch_lines(["*same_as_control compares the windows of a sweep: mark the test with crash_windows*"])


def test_a_value_that_cannot_be_kept_says_so(run: Run) -> None:
    result = run(LEDGER.replace('(tmp_path / "ledger").read_text().splitlines()', "(lambda: 1)"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*same_as_control('ledger'): a function can't be kept (*); give plain data*"])
