"""pytest-timeout: a limit for each window, kept from outside; the run goes on with both methods."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import outcomes

HANGS = """
import signal, sys, pytest

def work(disk):
    sys.audit("work.a")
    sys.audit("work.b")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    life = crashwindow.run(work, tmp_path, name="worker")
    if str(crashwindow.window).startswith("work.a"):
        crashwindow.start(signal.pause, name="sleeper")
        signal.pause()

def test_after():
    pass
"""
EXPECTED = {
    "test_work[work.a+1:crash]": "FAILED",
    "test_work[work.b+1:crash]": "PASSED",
    "test_work": "FAILED",
    "test_after": "PASSED",
}


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_the_window_fails_as_hung_and_the_run_goes_on(run: Run, method: str) -> None:
    result = run(HANGS, "-v", "--timeout=2", f"--timeout-method={method}")
    assert outcomes(result) == EXPECTED
    result.stdout.fnmatch_lines(
        [
            "Timeout: the test body took longer than its limit of 2 s (pytest-timeout).",
            "Life 'sleeper'*:",
            "The test body:",
            "*in test_work",
            "hung: life 'worker' was killed right at work.a",
            "  work.a+1:crash (hung)*",
        ]
    )


def test_the_marker_sets_the_limit_of_a_window(run: Run) -> None:
    source = HANGS.replace("@pytest.mark.crash", "@pytest.mark.timeout(2)\n@pytest.mark.crash")
    assert outcomes(run(source, "-v")) == EXPECTED


def test_each_window_has_the_whole_limit(run: Run) -> None:
    """Seven worlds of 0.4 s each would be over together: the clock starts anew for each."""
    result = run(
        """
        import sys, time, pytest

        def work():
            for n in range(5):
                sys.audit(f"work.{n}")

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            crashwindow.run(work)
            time.sleep(0.4)
        """,
        "--timeout=2.5",
    )
    result.assert_outcomes(passed=6)


def test_a_window_that_hangs_paused_says_where(run: Run) -> None:
    source = HANGS.replace('"work.*"', 'pause="work.*"')
    result = run(source, "--timeout=2")
    result.stdout.fnmatch_lines(["Life 'worker' is paused at work.a+1:", "*in work"])


def test_a_control_that_hangs_fails_the_sweep(run: Run) -> None:
    source = HANGS.replace("if str(crashwindow.window).startswith('work.a')", "if True").replace(
        'if str(crashwindow.window).startswith("work.a")', "if True"
    )
    result = run(source, "-v", "--timeout=2")
    assert outcomes(result) == {"test_work": "FAILED", "test_after": "PASSED"}
    result.stdout.fnmatch_lines(["Timeout: the test body took longer than its limit of 2 s (pytest-timeout)."])
