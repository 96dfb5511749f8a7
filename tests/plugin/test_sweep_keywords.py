"""`-k` with words that only windows have."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import A, B, C, outcomes

TWO_SWEEPS = """
import sys, pytest

def steps():
    for point in "abc":
        sys.audit(f"work.{point}")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow):
    crashwindow.run(steps)

@pytest.mark.crash_windows("other.*")
def test_other(crashwindow):
    crashwindow.run(sys.audit, "other.a")

def test_plain():
    pass
"""
OTHER = "test_other[other.a+1:crash]"


@pytest.mark.parametrize(
    ("keyword", "expected"),
    [
        ("work.b", [B, "test_work", "test_other"]),
        ("work.b+1:crash", [B, "test_work", "test_other"]),
        ("work.b or work.c", [B, C, "test_work", "test_other"]),
        ("test_work and not work.b", [A, C, "test_work"]),
        ("test_work", [A, B, C, "test_work"]),
        ("plain", ["test_plain"]),
        ("test_plain or other.a", ["test_work", OTHER, "test_other", "test_plain"]),
        ("test_other or work.c", [C, "test_work", OTHER, "test_other"]),
    ],
)
def test_words_of_windows_choose_windows(run: Run, keyword: str, expected: list[str]) -> None:
    result = run(TWO_SWEEPS, "-v", "-k", keyword)
    assert list(outcomes(result)) == expected
    assert result.ret == 0


def test_what_was_left_out_is_said(run: Run) -> None:
    result = run(TWO_SWEEPS, "-k", "work.b")
    result.stdout.fnmatch_lines(["*test_work: explored 1 of 3 windows (the others were deselected), all passed"])


def test_a_sweep_without_a_chosen_window_is_skipped_and_not_green(run: Run) -> None:
    result = run(TWO_SWEEPS, "-v", "-k", "work.b")
    assert outcomes(result)["test_other"] == "SKIPPED"


def test_a_bad_expression_is_pytests_usual_error(run: Run) -> None:
    result = run(TWO_SWEEPS, "-k", "work.b and (")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: Wrong expression passed to '-k'*"])


PAIRS = """
import sys, pytest

def steps():
    sys.audit("work.a")
    sys.audit("work.b")

@pytest.mark.crash_windows("work.*", depth=2)
def test_work(crashwindow):
    crashwindow.supervise(steps)
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_window_behind_one_that_is_not_chosen(pytester: pytest.Pytester, workers: str) -> None:
    pytester.makepyfile(test_it=PAIRS)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-v", "-n", workers, "-k", "crash/work.a+2")
    pair = "test_work[work.a+1:crash/work.a+2:crash]"
    assert {name for name in outcomes(result) if "[" in name} == {pair, "test_work[work.b+1:crash/work.a+2:crash]"}
    assert outcomes(result)["test_work"] == "PASSED"


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")], ids=["alone", "workers"])
def test_a_keyword_that_nothing_has_is_told_by_the_exit_status(run: Run, workers: tuple[str, ...]) -> None:
    result = run(TWO_SWEEPS, "-k", "typo", *workers)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["*test_work: explored 0 of 3 windows (the others were deselected)"])


def test_a_keyword_that_one_window_has_is_a_pass(run: Run) -> None:
    assert run(TWO_SWEEPS, "-k", "work.b+1").ret == 0


def test_deselect_leaves_windows_out(run: Run) -> None:
    result = run(TWO_SWEEPS, "-v", "--deselect", f"test_it.py::{B}", "--deselect", "test_it.py::test_other")
    assert list(outcomes(result)) == [A, C, "test_work", "test_plain"]
    result.stdout.fnmatch_lines(["*test_work: explored 2 of 3 windows (the others were deselected), all passed"])
