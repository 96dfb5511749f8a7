"""`--crashwindow-list` and `--collect-only`: what there is, without running it."""

from __future__ import annotations

from .conftest import Run
from .sweeping import WORK, B, outcomes, section


def test_list_runs_controls_only_and_shows_points_and_windows(run: Run) -> None:
    result = run(WORK, "--crashwindow-list")
    lines = section(result)
    assert lines[0] == "test_it.py::test_work: 5 points, 3 windows"  # the points of files are passed and not asked for
    assert [line for line in lines if "work." in line] == [
        *(f"  point   work.{point}" for point in "abc"),
        *(f"  window  work.{point}+1:crash" for point in "abc"),
    ]
    result.assert_outcomes(passed=1)


def test_a_window_of_the_list_can_be_pasted(run: Run) -> None:
    listed = section(run(WORK, "--crashwindow-list"))
    window = [line for line in listed if line.startswith("  window  ")][1].removeprefix("  window  ")
    assert outcomes(run(WORK, "-v", f"test_it.py::test_work[{window}]")) == {B: "FAILED"}


def test_collect_only_says_that_windows_are_found_while_running(run: Run) -> None:
    result = run(WORK, "--collect-only")
    result.stdout.fnmatch_lines(["crashwindow: the windows of 1 sweep* found while running *--crashwindow-list*"])
    result.stdout.fnmatch_lines(["*<Function test_work>", "*1 test collected*"])
    assert not section(result)


def test_collect_only_with_a_pasted_id_shows_the_window(run: Run) -> None:
    result = run(WORK, "--collect-only", "-q", f"test_it.py::{B}")
    result.stdout.fnmatch_lines([f"test_it.py::{B}".replace("[", "[[]").replace("crash]", "crash[]]")])


def test_collect_only_without_sweeps_says_nothing(run: Run) -> None:
    assert "crashwindow:" not in run("def test_x(): pass", "--collect-only").stdout.str()
