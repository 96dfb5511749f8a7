"""Verdicts are told apart in text and in JUnit; only passed passes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from .conftest import Run
from .sweeping import outcomes

WAYS = """
import os, signal, sys, pytest

def work(disk):
    if (disk / "a").exists():
        os._exit(9)  # recovery ends oddly
    if (disk / "b").exists():
        signal.pause()  # recovery hangs
    if (disk / "c").exists():
        raise ValueError("recovery refuses")
    sys.audit("work.a")
    sys.audit("work.b")
    sys.audit("work.c")
    sys.audit("work.d")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    crashwindow.run(work, tmp_path)
    if crashwindow.window:
        (tmp_path / crashwindow.window.point[-1]).touch()
    _ = crashwindow.run(work, tmp_path).value
"""


def test_in_text_and_junit(run: Run, pytester: pytest.Pytester) -> None:
    hook = """
from pytest_crashwindow.windows import parse

def pytest_crashwindow_windows(item, windows):
    windows[:] = [w for w in windows if w.steps[0].hit == 1] + [parse("work.d+7:crash")]
"""
    pytester.makeconftest(hook)
    result = run(WAYS, "--junitxml=j.xml", "--crashwindow-life-timeout=1", "-v")
    suite = ElementTree.parse(pytester.path / "j.xml").getroot()
    found = {}
    for case in suite.iter("testcase"):
        properties = {p.get("name"): p.get("value") for p in case.iter("property")}
        if "crashwindow_window" in properties:
            found[properties["crashwindow_window"]] = properties["crashwindow_verdict"]
    assert found == {
        "work.a+1:crash": "unattributed death",
        "work.b+1:crash": "hung",
        "work.c+1:crash": "failed",
        "work.d+1:crash": "passed",
        "work.d+7:crash": "not reached",
    }
    assert [name for name, outcome in outcomes(result).items() if outcome == "PASSED"] == ["test_work[work.d+1:crash]"]
    result.stdout.fnmatch_lines(
        [
            "unattributed death: life 'work' was killed right at work.a",
            "hung: life 'work' was killed right at work.b",
            "*- crashwindow hung -*",
            "life 'work-2' was still running after 1 s *",
            "failed: life 'work' was killed right at work.c",
            "not reached: no fault fired",
            "4 of 5 windows failed:",
            "  work.a+1:crash (unattributed death)*",
            "  work.b+1:crash (hung)*",
            "  work.c+1:crash",
            "  work.d+7:crash (not reached)*",
            "*4 failed (1 unattributed death, 1 hung, 1 not reached)",
            "1 sweep: 5 windows exist, 5 explored, 4 fired, 1 passed (passed: crash 1/5)",
        ]
    )


def test_a_body_that_dies_itself_is_an_error(run: Run) -> None:
    result = run(
        """
        import os, signal, sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            crashwindow.run(sys.audit, "work.a")
            if crashwindow.window:
                os.kill(os.getpid(), signal.SIGSEGV)

        def test_after():
            pass
        """,
        "-v",
    )
    assert outcomes(result) == {"test_work[work.a+1:crash]": "FAILED", "test_work": "FAILED", "test_after": "PASSED"}
    result.stdout.fnmatch_lines(["*the process that ran the test body ended by SIGSEGV before it could report. *"])


def test_a_body_that_ends_green_without_its_fault_is_not_reached(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            if crashwindow.window is None:
                crashwindow.run(sys.audit, "work.a")
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*never fired.", "not reached: *"])


def test_a_failed_subtest_fails_its_window(pytester: pytest.Pytester, run: Run) -> None:
    if "subtests" not in pytester.runpytest_subprocess("--fixtures").stdout.str():
        pytest.skip("subtests are of pytest 9")
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, subtests):
            life = crashwindow.run(sys.audit, "work.done")
            with subtests.test("a"):
                assert not life.crashed
        """,
        "-v",
    )
    assert outcomes(result) == {"test_work[work.done+1:crash]": "FAILED", "test_work": "FAILED"}
    result.stdout.fnmatch_lines(["contains 1 failed subtest"])


def test_a_control_that_is_skipped_is_no_pass(run: Run) -> None:
    result = run(
        """
        import pytest

        @pytest.mark.crash_windows
        def test_work(crashwindow):
            pytest.skip("not today")
        """
    )
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["test_it.py::test_work: explored 0 of 0 windows, skipped"])
