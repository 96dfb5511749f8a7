"""`delay`: the point takes longer."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import pytest

from .conftest import Run


def test_it_finds_a_race_and_passes_code_with_a_lock(run: Run) -> None:
    """The second thread starts once the first has read, and is done before the first writes."""
    result = run(
        """
        import contextlib, sys, threading, pytest

        def add_two(effects, lock):
            balance = [0]
            read = threading.Event()

            def add():
                with lock:
                    seen = balance[0]
                    read.set()
                    sys.audit("bank.read")
                    balance[0] = seen + 1

            first = threading.Thread(target=add)
            first.start()
            read.wait()
            while "delay":
                second = threading.Thread(target=add)
                second.start()
                second.join()
                break
            first.join()
            return balance[0]

        @pytest.mark.delay_at("bank.read", 0.5)
        @pytest.mark.parametrize("lock", [contextlib.nullcontext(), threading.Lock()], ids=["free", "locked"])
        def test_no_update_is_lost(crashwindow, lock):
            assert crashwindow.run(add_two, crashwindow.effects, lock).value == 2
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_no_update_is_lost[[]free[]]*", "*>> delay at bank.read+1*"])


@pytest.mark.delay_at("shop.slow", seconds=0.05)
def test_the_life_goes_on_after_that_many_seconds(crashwindow: Any) -> None:
    def timed() -> float:
        begun = time.monotonic()
        sys.audit("shop.slow")
        return time.monotonic() - begun

    assert crashwindow.run(timed).value >= 0.05


@pytest.mark.delay_at("shop.slow", 0.05)
def test_other_threads_run_on(crashwindow: Any) -> None:
    def two_threads() -> list[str]:
        order: list[str] = []
        quick = threading.Thread(target=order.append, args=("quick",))

        def slow() -> None:
            sys.audit("shop.begins")
            quick.start()
            sys.audit("shop.slow")
            quick.join()
            order.append("slow")

        slow()
        return order

    assert crashwindow.run(two_threads).value == ["quick", "slow"]


@pytest.mark.parametrize("seconds", ["-1", "'soon'", "True"])
def test_seconds_must_be_a_number_not_negative(run: Run, seconds: str) -> None:
    result = run(
        f"""
        import pytest

        @pytest.mark.delay_at("shop.slow", {seconds})
        def test_slow(crashwindow):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*delay_at: delay: seconds is a number, not negative; got *"])
