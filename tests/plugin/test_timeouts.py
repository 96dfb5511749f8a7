"""What hangs is ended: a life by its own limit, a whole test body by pytest-timeout's."""

from __future__ import annotations

from textwrap import dedent

import pytest

from .conftest import Run

HANGS = """
    import sys, threading, time, pytest

    def waits_for_lock():
        lock = threading.Lock()
        lock.acquire()
        threading.Thread(target=sleeps, daemon=True).start()
        lock.acquire()

    def sleeps():
        time.sleep(1000)

    def paused():
        sys.audit("shop.before")
        sys.audit("shop.computed")
    """


def test_a_life_that_hangs_is_ended_by_its_limit_and_shows_every_threads_stack(run: Run) -> None:
    result = run(
        HANGS
        + """
    def test_hangs(crashwindow):
        crashwindow.run(waits_for_lock)

    def test_after(crashwindow):
        assert crashwindow.run(lambda: 1).value == 1
    """,
        "--crashwindow-life-timeout=1",
    )
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        ["hung: life 'waits_for_lock' was still running after 1 s (crashwindow_life_timeout) and was ended. Its *:"]
    )
    result.stdout.fnmatch_lines_random(
        ["*Thread 0x*", '  File "*test_it.py", line * in sleeps', "*line * in waits_for_lock"]
    )
    result.stdout.no_fnmatch_line("*pluggy/*")


def test_whoever_reads_the_outcome_takes_the_decision(run: Run) -> None:
    result = run(
        HANGS
        + """
    def test_expected(crashwindow):
        life = crashwindow.run(sleeps)
        assert life.outcome == "timed out"
        assert not life.crashed
        with pytest.raises(Exception, match="has no value, it timed out"):
            life.value
    """,
        "--crashwindow-life-timeout=0.2",
    )
    result.assert_outcomes(passed=1)


def test_a_life_that_never_comes_to_an_end_because_of_a_thread_is_hung(run: Run) -> None:
    result = run(
        HANGS
        + """
    def test_thread(crashwindow):
        crashwindow.run(lambda: threading.Thread(target=sleeps).start())
    """,
        "--crashwindow-life-timeout=1",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["hung: life 'life'*", "*in sleeps"])


BODY = """
    @pytest.mark.pause_at("shop.computed")
    def test_hangs(crashwindow):
        crashwindow.run(paused)
        crashwindow.start(sleeps)
        print("last words")
        time.sleep(1000)

    def test_after(crashwindow):
        assert crashwindow.run(lambda: 1).value == 1

    def test_plain():
        pass
    """


@pytest.mark.parametrize(
    "how",
    [
        ("--timeout=1", "--timeout-method=signal"),
        ("--timeout=1", "--timeout-method=thread"),
        ("--timeout=1", "--timeout-method=signal", "-o", "timeout_func_only=true"),
        ("--timeout=1", "--timeout-method=thread", "-o", "timeout_func_only=true"),
    ],
    ids=["signal", "thread", "signal-func_only", "thread-func_only"],
)
def test_a_body_that_hangs_fails_and_names_lives_stacks_and_points_and_the_run_goes_on(
    run: Run, how: tuple[str, ...]
) -> None:
    result = run(HANGS + BODY, *how)
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(
        [
            "*___ test_hangs ___*",
            "Timeout: the test body took longer than its limit of 1 s (pytest-timeout).",
            "Life 'paused' is paused at shop.computed+1:",
            '  File "*test_it.py", line * in paused',
            "Life 'sleeps':",
            '  File "*test_it.py", line * in sleeps',
            "The test body:",
            '  File "*test_it.py", line * in test_hangs',
            "*paused  >> pause at shop.computed+1*",
        ]
    )


def test_the_timeout_marker_counts(run: Run) -> None:
    result = run(
        HANGS
        + """
    @pytest.mark.timeout(1)
    def test_hangs(crashwindow):
        time.sleep(1000)

    @pytest.mark.timeout(1, func_only=True)
    def test_hangs_as_well(crashwindow):
        time.sleep(1000)
    """
    )
    result.assert_outcomes(failed=2)


def test_the_limit_is_of_the_body_and_set_up_has_its_own(run: Run) -> None:
    result = run(
        HANGS
        + """
    @pytest.fixture
    def slow(crashwindow):
        crashwindow.start(sleeps)
        time.sleep(1000)

    def test_never(slow):
        pass

    def test_after(crashwindow):
        assert crashwindow.run(lambda: 1).value == 1
    """,
        "--timeout=1",
        "--timeout-method=signal",
    )
    result.assert_outcomes(errors=1, passed=1)


def test_a_body_that_ignores_signals_is_ended_too(run: Run) -> None:
    result = run(
        HANGS
        + """
    import signal

    def test_hangs(crashwindow):
        for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                time.sleep(1000)
            except BaseException:
                pass
    """,
        "--timeout=1",
    )
    result.assert_outcomes(failed=1)


def test_without_pytest_timeout_nothing_is_missed(run: Run) -> None:
    result = run(
        dedent("def test_it(crashwindow):\n    assert crashwindow.run(lambda: 1).value == 1\n"), "-p", "no:timeout"
    )
    result.assert_outcomes(passed=1)
