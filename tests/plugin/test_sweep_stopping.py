"""`-x` and `--maxfail` stop in the middle of a sweep."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import outcomes, windows

TWO_HOLES = """
import sys, pytest

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow):
    for n in range(6):
        assert not crashwindow.run(sys.audit, f"work.{n}").crashed

def test_after():
    pass
"""


def test_x_stops_after_the_first_failed_window(run: Run) -> None:
    result = run(TWO_HOLES, "-v", "-x")
    assert outcomes(result) == {"test_work[work.0+1:crash]": "FAILED", "test_work": "FAILED"}
    result.stdout.fnmatch_lines(
        [
            "explored 1 of 6 known windows (stopping after 1 failures)",
            "*test_it.py::test_work: explored 1 of 6 windows (stopping after 1 failures), 1 failed*",
            "*stopping after * failures*",
        ]
    )


def test_maxfail_counts_windows(run: Run) -> None:
    result = run(TWO_HOLES, "-v", "--maxfail=3")
    assert windows(result) == [f"work.{n}+1:crash" for n in range(3)]


def test_tear_down_runs_where_the_run_stops(run: Run, pytester: pytest.Pytester) -> None:
    fixture = """
import pathlib, pytest

@pytest.fixture(scope="module", autouse=True)
def tidy():
    yield
    pathlib.Path("torn-down").touch()
"""
    run(fixture + TWO_HOLES, "-x")
    assert (pytester.path / "torn-down").exists()


def test_a_session_that_was_stopped_by_the_body_runs_no_more_windows(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, request):
            for n in range(3):
                crashwindow.run(sys.audit, f"work.{n}")
            if crashwindow.window:
                request.session.shouldstop = "had enough"
        """,
        "-v",
    )
    assert windows(result) == ["work.0+1:crash"]
    result.stdout.fnmatch_lines(["*explored 1 of 3 windows (had enough)*"])


def test_pytest_exit_in_a_window_ends_the_run(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            for n in range(3):
                crashwindow.run(sys.audit, f"work.{n}")
            if crashwindow.window:
                pytest.exit("enough of it", 7)

        def test_after():
            pass
        """,
        "-v",
    )
    result.stdout.fnmatch_lines(["*Exit: enough of it*"])
    assert "test_after" not in outcomes(result)
    assert result.ret == 7
