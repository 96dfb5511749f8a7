"""Several kinds of fault with one body."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import outcomes, windows

MIXED = """
import sys, time, pytest
import client

def work(effects):
    sys.audit("work.begun")
    for _ in range(2):
        try:
            client.send(effects)
            return "sent"
        except OSError as error:
            effects.record("caught", type(error).__name__ + str(error))
    return "gave up"

@pytest.mark.crash_windows(ARGUMENTS)
def test_work(crashwindow):
    life = crashwindow.run(work, crashwindow.effects)
    assert life.resume() is life  # does nothing unless it is paused
    assert life.outcome in ("returned", "crashed")
    for name in ("sent", "caught"):
        crashwindow.effects.keys(name) and print(name, crashwindow.effects.keys(name))
"""
CLIENT = """
def send(effects):
    effects.record("sent", "mail")
"""


@pytest.fixture
def run_mixed(run: Run, pytester: pytest.Pytester) -> Run:
    pytester.makepyfile(client=CLIENT)
    pytester.syspathinsert()
    return lambda source, *args: run(MIXED.replace("ARGUMENTS", source), "-v", "-rA", "-o", "pythonpath=.", *args)


def test_each_kind_is_tried_where_it_makes_sense(run_mixed: Run) -> None:
    result = run_mixed(
        "crash='work.*', lost_ack='client:send', error='client:send', duplicate='client:send', "
        "pause=['work.*', 'client:send'], delay={'client:send': 0.001}"
    )
    assert set(windows(result)) == {
        "work.begun+1:crash",
        "work.begun+1:pause",
        "client:send:enter+1:error",
        "client:send:enter+1:pause",
        "client:send:enter+1:duplicate",
        "client:send:enter+1:delay",
        "client:send:exit+1:lost_ack",
        "client:send:exit+1:pause",
    }
    assert set(outcomes(result).values()) == {"PASSED"}
    result.stdout.fnmatch_lines(["1 sweep: 8 windows exist, 8 explored, 8 fired, 8 passed (passed: crash 1/1, *"])


def test_exceptions_by_mapping(run_mixed: Run) -> None:
    result = run_mixed(
        "lost_ack={'client:send': ConnectionResetError}, "
        "error={'client:*': ConnectionRefusedError('nobody there'), '*': KeyError}"
    )
    assert set(windows(result)) == {"client:send:exit+1:lost_ack", "client:send:enter+1:error", "work.begun+1:error"}
    text = result.stdout.str()
    assert "caught ['ConnectionResetError" in text
    assert "caught ['ConnectionRefusedErrornobody there']" in text
    assert outcomes(result)["test_work[work.begun+1:error]"] == "FAILED"


def test_defaults_of_exceptions(run_mixed: Run) -> None:
    text = run_mixed("lost_ack='client:send'").stdout.str()
    assert "caught ['TimeoutError" in text


def test_a_paused_life_that_nobody_wakes_is_no_failure(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows(pause="work.*")
        def test_work(crashwindow):
            assert crashwindow.run(sys.audit, "work.a").paused is (crashwindow.window is not None)
        """
    )
    result.assert_outcomes(passed=2)


def test_window_may_be_read_at_any_time(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            before = crashwindow.window
            life = crashwindow.run(sys.audit, "work.a")
            assert crashwindow.window == before
            if before is not None:
                assert str(before) == "work.a+1:crash" == str(life.window)
                assert (before.point, before.fault) == ("work.a", "crash")
        """
    )
    result.assert_outcomes(passed=2)
