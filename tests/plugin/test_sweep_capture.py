"""Output, warnings and subtests of worlds: once, and where they belong."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import outcomes

TALKS = """
import sys, pytest

def work():
    print("said by the life")
    sys.audit("work.a")

@pytest.fixture
def talking():
    print("said by set-up")
    yield
    print("said by tear-down")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, talking):
    print("said by", crashwindow.window)
    crashwindow.run(work)
    assert crashwindow.window is None
"""


@pytest.mark.parametrize("option", ["-s", "--capture=no"])
def test_without_capture_everything_is_printed_once(run: Run, option: str) -> None:
    text = run(TALKS, option).stdout.str()
    assert text.count("said by set-up") == 1
    assert text.count("said by tear-down") == 1
    assert text.count("said by None") == 2  # two controls
    assert text.count("said by work.a+1:crash") == 1


@pytest.mark.parametrize("option", ["--capture=fd", "--capture=sys", "--capture=tee-sys"])
def test_a_failed_window_shows_its_own_output(run: Run, option: str) -> None:
    result = run(TALKS, option)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*_ test_work[[]work.a+1:crash[]] _*",
            "*- Captured stdout setup -*",
            "said by set-up",
            "*- Captured stdout call -*",
            "said by work.a+1:crash",
            "*- crashwindow stdout of life 'work' -*",
            "said by the life",
            "*_ test_work _*",
        ]
    )


WARNS = """
import sys, warnings, pytest

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow):
    warnings.warn("of the body")
    crashwindow.run(sys.audit, "work.a")
"""


def test_a_warning_of_the_body_is_shown(run: Run) -> None:
    result = run(WARNS)
    result.stdout.fnmatch_lines(["*UserWarning: of the body", "*2 passed, *warning*"])
    assert result.stdout.str().count("UserWarning: of the body") == 1


def test_warnings_as_errors_fail_the_control(run: Run) -> None:
    result = run(WARNS, "-W", "error")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_work: explored 0 of 0 windows, control failed"])


def test_nothing_of_the_plugin_warns(run: Run) -> None:
    assert run(WARNS.replace('warnings.warn("of the body")', "pass"), "-W", "error").ret == 0


def test_subtests_are_reported_with_their_window(run: Run) -> None:
    if not hasattr(pytest, "Subtests"):
        pytest.skip("subtests came with pytest 9")
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, subtests):
            life = crashwindow.run(sys.audit, "work.a")
            for n in range(2):
                with subtests.test(n=n):
                    assert n == 0 or not life.crashed
        """,
        "-v",
    )
    result.stdout.fnmatch_lines(["test_it.py::test_work[[]work.a+1:crash[]]*SUBFAILED*n=1*"])
    assert outcomes(result)["test_work"] == "FAILED"
    assert result.ret == 1


def test_properties_and_logs_of_a_window(run: Run, pytester: pytest.Pytester) -> None:
    result = run(
        """
        import logging, sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, record_property, caplog):
            record_property("mine", str(crashwindow.window))
            logging.getLogger("shop").warning("logged by %s", crashwindow.window)
            crashwindow.run(sys.audit, "work.a")
            assert caplog.messages == [f"logged by {crashwindow.window}"]
            assert crashwindow.window is None
        """,
        "--junitxml=j.xml",
    )
    result.stdout.fnmatch_lines(["*- Captured log call -*", "WARNING  shop:test_it.py:* logged by work.a+1:crash"])
    assert '<property name="mine" value="work.a+1:crash"' in (pytester.path / "j.xml").read_text()
