"""`--crashwindow-off`: controls only."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import WORK, B, outcomes, section

WITH_MARKER = (
    WORK
    + """
@pytest.mark.crash_at("work.b")
def test_armed(crashwindow, tmp_path):
    life = crashwindow.run(work, tmp_path)
    assert not life.crashed
"""
)


@pytest.mark.parametrize("way", ["flag", "ini", "environment"])
def test_no_fault_is_armed_and_it_is_said(run: Run, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "environment":
        monkeypatch.setenv("CRASHWINDOW_OFF", "1")
    options = {"flag": ["--crashwindow-off"], "ini": ["-o", "crashwindow_off=true"], "environment": []}[way]
    result = run(WITH_MARKER, "-v", *options)
    assert outcomes(result) == {"test_work": "PASSED", "test_armed": "PASSED"}
    assert "test_it.py::test_work: explored 0 of 3 windows (crashwindow_off: only the control was run), passed" in (
        section(result)
    )


def test_a_failing_control_fails_all_the_same(run: Run) -> None:
    result = run(WORK.replace(".exists()\n", ".is_dir()\n"), "--crashwindow-off")
    result.assert_outcomes(failed=1)


@pytest.mark.parametrize("option", ["--crashwindow-off", "--crashwindow-list"])
def test_a_window_that_is_asked_for_by_its_id_is_skipped(run: Run, option: str) -> None:
    result = run(WORK, option, "-v", "-rs", f"test_it.py::{B}")
    assert outcomes(result) == {B: "SKIPPED"}
    result.stdout.fnmatch_lines([f"SKIPPED * {option}: no window is run"])


def test_of_the_windows_that_failed_last_the_control_is_run(run: Run) -> None:
    assert outcomes(run(WORK, "-v"))[B] == "FAILED"
    assert outcomes(run(WORK, "-v", "--lf", "--crashwindow-off")) == {"test_work": "PASSED"}
    assert outcomes(run(WORK, "-v", "--lf")).keys() == {B}


def test_a_window_and_no_window_is_a_usage_error(run: Run) -> None:
    result = run(WORK, "--crashwindow-window=work.b+1:crash", "--crashwindow-off")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --crashwindow-window asks for a window, and --crashwindow-off for none"])
