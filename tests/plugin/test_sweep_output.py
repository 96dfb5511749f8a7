"""Windows in what pytest prints: they look like any other test."""

from __future__ import annotations

import re

import pytest

from .conftest import Run
from .sweeping import WORK, outcomes


def test_quiet_shows_a_dot_for_each_window_and_counts_them_all(run: Run) -> None:
    result = run(WORK, "-q")
    result.stdout.fnmatch_lines([".F.F *[[]100%[]]", "2 failed, 2 passed in *"])


def test_a_failed_window_has_its_own_headline_traceback_and_way_to_run_it_again(run: Run) -> None:
    result = run(WORK)
    result.stdout.fnmatch_lines(
        [
            "*_ test_work[[]work.b+1:crash[]] _*",
            '>*assert (tmp_path / "done").exists()',
            "E * assert False",
            "test_it.py:*: AssertionError",
            "*- crashwindow -*",
            "failed: life 'work' was killed right at work.b",
            "  test_it.py:* in work",
            '  >*sys.audit("work.b")',
            "run it again: pytest 'test_it.py::test_work[[]work.b+1:crash[]]'",
            "*- crashwindow timeline -*",
            "*work*started (pid *",
            "*work*>> crash at work.b+1, test_it.py:* in work",
            "*work-2*returned*",
            "*_ test_work _*",
            "1 of 3 windows failed:",
            "  work.b+1:crash",
            "FAILED test_it.py::test_work[[]work.b+1:crash[]] - *",
            "FAILED test_it.py::test_work*",
        ],
    )


def test_the_short_summary_lists_passed_windows(run: Run) -> None:
    result = run(WORK, "-rA")
    result.stdout.fnmatch_lines(
        ["PASSED test_it.py::test_work[[]work.a+1:crash[]]", "PASSED test_it.py::test_work[[]work.c+1:crash[]]"]
    )


def test_durations_are_of_windows(run: Run) -> None:
    result = run(WORK, "--durations=0", "-vv")
    result.stdout.fnmatch_lines_random(
        [
            "*s call     test_it.py::test_work[[]work.a+1:crash[]]",
            "*s setup    test_it.py::test_work",
            "*s call     test_it.py::test_work",
            "*s teardown test_it.py::test_work",
        ]
    )


def test_output_of_set_up_is_with_each_failed_window(run: Run) -> None:
    source = "import pytest\n\n@pytest.fixture(autouse=True)\ndef talks():\n    print('set up')\n" + WORK
    result = run(source)
    result.stdout.fnmatch_lines(["*_ test_work[[]work.b*", "*- Captured stdout setup -*", "set up"])


def test_progress_ends_at_the_whole_with_other_tests_around(run: Run) -> None:
    result = run("def test_before(): pass\n" + WORK + "\ndef test_after(): pass\n", "-v")
    shown = [line for line in result.outlines if line.endswith("%]")]
    assert len(shown) == 6
    assert shown[-1].endswith("test_after PASSED" + shown[-1].partition("PASSED")[2])
    assert shown[-1].endswith("[100%]")
    assert "[133%]" not in result.stdout.str()


def test_the_count_of_tests_knows_all_windows_from_the_first_on(run: Run) -> None:
    result = run(WORK, "-v")
    shown = [line.rpartition("[")[2].strip(" %]") for line in result.outlines if line.endswith("%]")]
    assert shown == ["25", "50", "75", "100"]


SLOW = """
import sys, time, pytest

def work():
    for _ in range(4):
        sys.audit("work.step")
        time.sleep(0.1)

@pytest.mark.crash_windows("work.*")
def test_slow(crashwindow):
    crashwindow.supervise(work)
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_that_takes_long_shows_its_progress_and_rate(pytester: pytest.Pytester, workers: str) -> None:
    pytester.makeconftest("from pytest_crashwindow import collecting\ncollecting._PROGRESS_AFTER = 0.2\n")
    pytester.makepyfile(test_it=SLOW)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-n", workers)
    told = [line for line in result.outlines if line.startswith("crash windows: ")]
    assert told
    for line in told:
        assert re.fullmatch(r"crash windows: [2-4] of 4 known, \d+\.\d per s", line)
    result.assert_outcomes(passed=5)


def test_progress_does_not_cut_a_line_in_two(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from pytest_crashwindow import collecting\ncollecting._PROGRESS_AFTER = 0.2\n")
    pytester.makepyfile(test_it=SLOW)
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist", "-v")
    assert any(line.startswith("crash windows: ") for line in result.outlines)
    assert list(outcomes(result).values()) == ["PASSED"] * 5
    assert not [line for line in result.outlines if line.rstrip().endswith(":crash]")]


def test_a_short_run_shows_no_progress(run: Run) -> None:
    assert "known" not in run(WORK).stdout.str()
