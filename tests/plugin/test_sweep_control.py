"""The control: it runs twice, must pass, must be steady, and must pass a point."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import WORK, outcomes


def test_a_failing_control_is_the_tests_ordinary_failure_and_no_window_is_run(run: Run) -> None:
    result = run(WORK.replace(".exists()\n", ".is_dir()\n"), "-v")
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines(
        [
            '>*assert (tmp_path / "done").is_dir()',
            "E * assert False",
            "*test_work: explored 0 of 0 windows, control failed",
        ]
    )


COUNTING = """
import pathlib, sys, pytest

OUTSIDE = pathlib.Path("runs")  # no state directory: not put back

def run():
    OUTSIDE.write_text(OUTSIDE.read_text() + "x" if OUTSIDE.exists() else "x")
    sys.audit("work.a")
    if len(OUTSIDE.read_text()) > 1:
        sys.audit("work.again")
    sys.audit("work.b")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow):
    crashwindow.run(run)
"""


def test_an_unsteady_control_names_the_first_difference_and_the_way_out(run: Run) -> None:
    result = run(COUNTING, "-v")
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines(
        [
            "unsteady control: two runs without any fault differ: 'work.again' was passed not at all in the first run "
            "and once in the second.",
            "*exclude a point that ticks by itself: crashwindow_points = !work.again",
            "*test_work: explored 0 of 0 windows, unsteady control",
        ]
    )


@pytest.mark.parametrize("way", ["marker", "ini"])
def test_the_way_out_works(run: Run, way: str) -> None:
    if way == "ini":
        source = COUNTING.replace('("work.*")', "")
        result = run(source, "-o", "crashwindow_points=work.*\n!work.again", "-v")
    else:
        result = run(COUNTING.replace('"work.*"', '["work.*", "!work.again"]'), "-v")
    assert outcomes(result) == {
        "test_work[work.a+1:crash]": "PASSED",
        "test_work[work.b+1:crash]": "PASSED",
        "test_work": "PASSED",
    }


def test_a_control_that_fails_the_second_time_is_unsteady(run: Run) -> None:
    result = run(COUNTING + "    assert len(OUTSIDE.read_text()) == 1\n", "-v")
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines(["unsteady control: the test passed in its first run * and failed in the second:"])


def test_another_order_of_threads_is_allowed_and_said(run: Run) -> None:
    result = run(
        """
        import pathlib, sys, pytest

        OUTSIDE = pathlib.Path("runs")

        def run():
            order = "ba" if OUTSIDE.exists() else "ab"
            OUTSIDE.touch()
            for point in order:
                sys.audit(f"work.{point}")

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            crashwindow.run(run)
        """
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["  the two controls passed the same points in a different order (threads[?])"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("pass", "It started no life: run the code under test by *"),
        ("crashwindow.run(len, ())", "It ran 1 life. Points are *"),
        ("crashwindow.run(sys.audit, 'other')", "no point of the control is one that the sweep asks for (work.[*])."),
    ],
)
def test_no_point_is_an_error_and_no_pass(run: Run, body: str, message: str) -> None:
    result = run(
        f"""
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            {body}
        """,
        "-v",
    )
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines([message])


def test_a_misspelt_point_is_told_with_the_near_name(run: Run) -> None:
    result = run(WORK.replace('"work.*"', '"work.bb"'))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*work.bb*did you mean 'work.b'*"])


def test_a_sweep_without_the_fixture_is_told_so(run: Run) -> None:
    result = run("import pytest\n@pytest.mark.crash_windows\ndef test_x(): pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the test doesn't use the fixture `crashwindow`*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("crush='work.*'", "crash_windows: unknown argument 'crush'; did you mean 'crash'[?]*"),
        ("'a', 'b'", "crash_windows: takes one positional argument, the points for crash=*"),
        ("delay='work.*'", "crash_windows(delay=...): takes a mapping from glob to seconds*"),
        ("pause={'work.*': 1}", "crash_windows(pause=...): takes a glob or a list of globs, not a mapping"),
        ("crash=3", "crash_windows: crash takes a glob such as 'shop.[*]' or a list of them, not 3"),
        ("'a', crash='b'", "crash_windows: points is short for crash=; give one of them"),
        ("max_windows=True", "crash_windows: max_windows is a whole number from 1, got True"),
        ("lost_ack='m:f:enter'", "crash_windows(lost_ack=...): an answer can be lost after the call only*"),
        ("lost_ack={'m:f:enter': OSError}", "crash_windows(lost_ack=...): an answer can be lost after the call only*"),
        ("error={'*': OSError, '!a': OSError}", "crash_windows(error=...): '!a' excludes, which only a list can*"),
    ],
)
def test_bad_arguments_are_told(run: Run, arguments: str, message: str) -> None:
    result = run(WORK.replace('"work.*"', arguments))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{message}"])


def test_a_control_without_points_says_what_its_lives_raised(run: Run) -> None:
    source = """
        import pytest

        def work(place, file):
            file.touch()

        @pytest.mark.crash_windows
        def test_work(crashwindow, tmp_path):
            crashwindow.run(work, tmp_path)
        """
    result = run(source)
    result.stdout.fnmatch_lines(["Life 'work' raised TypeError: *missing 1 required positional argument: 'file'."])


def test_a_life_that_nobody_waits_for_is_why_controls_differ(run: Run) -> None:
    source = """
        import sys, threading, time, pytest

        def work(steps):
            for _ in range(steps):
                sys.audit("work.step")
            threading.Event().wait()

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, tmp_path):
            before = tmp_path.parent / "before"
            steps = 1 if before.exists() else 3
            before.touch()
            life = crashwindow.start(work, steps)
            while len(life.hits) < steps:
                time.sleep(0.001)
        """
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["Life 'work' was still running when the test body ended, so how far it came is chance*"]
    )
