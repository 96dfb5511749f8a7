"""`duplicate`: an attached call is performed twice with the same arguments."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from .conftest import Run


def deliver(effects: Any, order: str) -> int:
    effects.record("delivery", order)
    return effects.count("delivery", order)  # type: ignore[no-any-return]


async def deliver_later(effects: Any, order: str) -> int:
    await asyncio.sleep(0)
    return deliver(effects, order)


DELIVER, DELIVER_LATER = f"{__name__}:deliver", f"{__name__}:deliver_later"


def test_it_finds_a_receiver_that_counts_twice_and_passes_one_with_an_inbox(run: Run) -> None:
    result = run(
        """
        import pytest

        def naive(effects, message):
            effects.record("payment", message)

        def with_inbox(effects, message):
            if not effects.count("payment", message):
                effects.record("payment", message)

        @pytest.mark.parametrize("receive", [naive, with_inbox])
        def test_paid_once(crashwindow, receive):
            crashwindow.run(receive, crashwindow.effects, "m-1", duplicate_at=f"test_it:{receive.__name__}")
            assert crashwindow.effects.keys("payment") == ["m-1"]
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_paid_once[[]naive[]]*", "*>> duplicate at test_it:naive:enter+1*"])


@pytest.mark.duplicate_at(DELIVER)
def test_the_caller_gets_the_second_answer(crashwindow: Any) -> None:
    life = crashwindow.run(deliver, crashwindow.effects, "o-1")
    assert life.value == 2
    assert crashwindow.effects.keys("delivery") == ["o-1", "o-1"]


@pytest.mark.duplicate_at(DELIVER_LATER)
def test_a_coroutine_is_awaited_twice(crashwindow: Any) -> None:
    assert crashwindow.run(deliver_later, crashwindow.effects, "o-1").value == 2


@pytest.mark.duplicate_at(DELIVER, nth=2)
def test_only_the_hit_that_is_named_is_doubled(crashwindow: Any) -> None:
    def three() -> list[int]:
        return [deliver(crashwindow.effects, order) for order in ("a", "b", "c")]

    assert crashwindow.run(three).value == [1, 2, 1]


@pytest.mark.parametrize("point", ["'test_it:rows:exit'", "'test_it:rows'"])
def test_it_is_refused_where_it_makes_no_sense(run: Run, point: str) -> None:
    result = run(
        f"""
        import pytest

        def rows():
            yield 1

        @pytest.mark.duplicate_at({point})
        def test_rows(crashwindow):
            crashwindow.run(lambda: list(rows()))
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines_random(["*duplicate* as a whole*" if "exit" in point else "*duplicate is refused at*"])


def test_at_a_point_that_is_no_call_it_is_refused(run: Run) -> None:
    result = run(
        """
        import pytest, sys

        @pytest.mark.duplicate_at("shop.paid")
        def test_event(crashwindow):
            crashwindow.run(sys.audit, "shop.paid")
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*duplicate*'shop.paid'*call*"])
