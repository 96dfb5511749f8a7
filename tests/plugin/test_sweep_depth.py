"""`depth=2`: windows of the lives that follow a fault."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import WORK, outcomes, windows

TWO_STEPS = """
import sys, pytest

def work(disk):
    sys.audit("work.a")
    (disk / "x").touch()
    sys.audit("work.b")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    crashwindow.supervise(work, tmp_path)
    assert (tmp_path / "x").exists()
"""
PAIRS = [
    "work.a+1:crash",
    "work.a+1:crash/work.a+2:crash",
    "work.a+1:crash/work.b+1:crash",
    "work.b+1:crash",
    "work.b+1:crash/work.a+2:crash",
    "work.b+1:crash/work.b+2:crash",
]


@pytest.mark.parametrize("by", ["option", "marker"])
def test_each_window_is_followed_by_its_pairs(run: Run, by: str) -> None:
    if by == "option":
        result = run(TWO_STEPS, "-v", "--crashwindow-depth=2")
    else:
        result = run(TWO_STEPS.replace('"work.*"', '"work.*", depth=2'), "-v")
    assert windows(result) == PAIRS
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 sweep: 6 windows exist, 6 explored, 6 fired, 6 passed (passed: crash 6/6)"])


def test_without_it_only_single_faults(run: Run) -> None:
    assert windows(run(TWO_STEPS, "-v")) == ["work.a+1:crash", "work.b+1:crash"]


def test_it_finds_what_only_a_crash_during_recovery_breaks(run: Run) -> None:
    source = """
        import os, sys, pytest

        def work(disk):
            if (disk / "journal").exists():
                os.remove(disk / "journal")
                sys.audit("work.recovering")
            elif (disk / "begun").exists():
                return
            else:
                (disk / "journal").touch()
            (disk / "begun").touch()
            sys.audit("work.begun")
            (disk / "done").touch()

        @pytest.mark.crash_windows("work.*", depth=DEPTH)
        def test_work(crashwindow, tmp_path):
            crashwindow.supervise(work, tmp_path)
            assert (tmp_path / "done").exists()
        """
    assert run(source.replace("DEPTH", "1")).ret == 0
    failed = [
        name for name, outcome in outcomes(run(source.replace("DEPTH", "2"), "-v")).items() if outcome != "PASSED"
    ]
    assert failed == [
        "test_work[work.begun+1:crash/work.recovering+1:crash]",
        "test_work[work.begun+1:crash/work.begun+2:crash]",
        "test_work",
    ]


def test_the_story_of_a_pair_tells_both_faults(run: Run) -> None:
    result = run(WORK.replace('"work.*"', '"work.*", depth=2'))
    result.stdout.fnmatch_lines(
        ["failed: life 'work' was killed right at work.a, then life 'work-2' was killed right at work.b"]
    )


def test_depth_below_one_is_an_error(run: Run) -> None:
    result = run(TWO_STEPS, "--crashwindow-depth=0")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--crashwindow-depth: expected a whole number from 1, got '0'"])
    in_marker = run(TWO_STEPS.replace('"work.*"', '"work.*", depth=0'))
    in_marker.stdout.fnmatch_lines(["*crash_windows: depth is a whole number from 1, got 0*"])


def test_marker_beats_option(run: Run) -> None:
    assert len(windows(run(TWO_STEPS.replace('"work.*"', '"work.*", depth=1'), "-v", "--crashwindow-depth=2"))) == 2


def test_a_markers_fault_during_recovery_hides_no_pair(run: Run) -> None:
    source = TWO_STEPS.replace(
        "@pytest.mark.crash_windows", "@pytest.mark.delay_at('work.b', 0.01)\n@pytest.mark.crash_windows"
    )
    assert windows(run(source, "-v", "--crashwindow-depth=2")) == PAIRS
