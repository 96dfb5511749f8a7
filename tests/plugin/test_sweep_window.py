"""`--crashwindow-window`: one window of the selected sweeps."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import WORK, B, outcomes, section


def test_only_this_window_runs_and_the_sweep_speaks_for_it(run: Run) -> None:
    result = run(WORK, "-v", "--crashwindow-window=work.b+1:crash")
    assert outcomes(result) == {B: "FAILED", "test_work": "FAILED"}
    passed = run(WORK, "-v", "--crashwindow-window=work.a+1:crash")
    assert outcomes(passed) == {"test_work[work.a+1:crash]": "PASSED", "test_work": "PASSED"}


def test_that_it_is_one_of_more_is_said(run: Run) -> None:
    assert section(run(WORK, "--crashwindow-window=work.a+1:crash"))[0] == (
        "test_it.py::test_work: explored 1 of 1 windows (crashwindow_window: no other was looked for), all passed"
    )


def test_a_window_that_is_not_reached_fails(run: Run) -> None:
    result = run(WORK, "-v", "--crashwindow-window=work.b+7:crash")
    assert outcomes(result) == {"test_work[work.b+7:crash]": "FAILED", "test_work": "FAILED"}
    result.stdout.fnmatch_lines(["  work.b+7:crash (not reached)"])


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ("work.b", "*'work.b' is no window id; one looks like shop.order.committed+1:crash"),
        ("work.b+1:crush", "*no fault 'crush'; there are crash, *"),
    ],
)
def test_what_is_no_window_is_a_usage_error(run: Run, window: str, message: str) -> None:
    result = run(WORK, f"--crashwindow-window={window}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*--crashwindow-window: {message}"])


def test_in_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASHWINDOW_WINDOW", "work.b+1:crash")
    assert outcomes(run(WORK, "-v")) == {B: "FAILED", "test_work": "FAILED"}
