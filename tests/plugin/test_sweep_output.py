"""Windows in what pytest prints: they look like any other test."""

from __future__ import annotations

from .conftest import Run
from .sweeping import WORK


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
