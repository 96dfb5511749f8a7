"""`lost_ack`: the call takes effect, its caller gets an exception instead of the answer."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from .conftest import Run


class Mailer:
    def send(self, to: str, effects: Any) -> str:
        effects.record("mail", to)
        return "250 OK"


async def charge(effects: Any) -> str:
    await asyncio.sleep(0)
    effects.record("charge")
    return "paid"


class BrokerGone(Exception):
    pass


SEND = f"{__name__}:Mailer.send"
CHARGE = f"{__name__}:charge"


def test_it_finds_a_retry_that_sends_twice_and_passes_one_with_a_key(run: Run) -> None:
    result = run(
        """
        import pytest

        def send(key, effects):
            if key is None or not effects.count("mail", key):
                effects.record("mail", key)

        def retrying(key, effects):
            for _ in range(3):
                try:
                    return send(key, effects)
                except TimeoutError:
                    pass

        @pytest.mark.lost_ack_at("test_it:send")
        @pytest.mark.parametrize("key", [None, "order-1"])
        def test_one_mail(crashwindow, key):
            crashwindow.run(retrying, key, crashwindow.effects)
            assert crashwindow.effects.count("mail") == 1
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_one_mail[[]None[]]*", "E * assert 2 == 1", "*>> lost_ack at test_it:send:exit+1*"]
    )


@pytest.mark.lost_ack_at(SEND)
def test_the_call_takes_effect_and_the_caller_gets_a_timeout(crashwindow: Any) -> None:
    life = crashwindow.run(Mailer().send, "ann", crashwindow.effects)
    assert crashwindow.effects.keys("mail") == ["ann"]
    assert life.outcome == "raised"
    assert isinstance(life.error, TimeoutError)
    assert str(life.error) == f"crashwindow: answer lost at {SEND}:exit+1"
    assert life.hits == [f"{SEND}:enter+1", f"{SEND}:exit+1"]


@pytest.mark.lost_ack_at(CHARGE)
def test_of_a_coroutine_it_is_lost_after_the_await(crashwindow: Any) -> None:
    life = crashwindow.run(charge, crashwindow.effects)
    assert isinstance(life.error, TimeoutError)
    assert crashwindow.effects.count("charge") == 1


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(BrokerGone, id="class"),
        pytest.param(BrokerGone("no route"), id="instance"),
        pytest.param(f"{__name__}:BrokerGone", id="text"),
    ],
)
def test_the_exception_can_be_the_clients_own(crashwindow: Any, error: Any) -> None:
    life = crashwindow.run(Mailer().send, "ann", crashwindow.effects, lost_ack_at={"point": SEND, "error": error})
    assert isinstance(life.error, BrokerGone)
    if isinstance(error, BrokerGone):
        assert str(life.error) == "no route"


@pytest.mark.lost_ack_at(SEND, nth=None)
def test_every_answer_can_be_lost(crashwindow: Any) -> None:
    def insists() -> int:
        lost = 0
        for _ in range(3):
            try:
                Mailer().send("ann", crashwindow.effects)
            except TimeoutError:
                lost += 1
        return lost

    life = crashwindow.run(insists)
    assert life.value == 3
    assert len(life.window.steps) == 3


def test_on_a_generator_it_is_refused(run: Run) -> None:
    result = run(
        """
        import pytest

        def rows():
            yield 1

        @pytest.mark.lost_ack_at("test_it:rows")
        def test_rows(crashwindow):
            crashwindow.run(lambda: list(rows()))
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*lost_ack is refused at test_it:rows*generator*"])


@pytest.mark.lost_ack_at("shop.asked")
def test_at_an_audit_event_the_exception_is_raised_there(crashwindow: Any) -> None:
    life = crashwindow.run(sys.audit, "shop.asked")
    assert isinstance(life.error, TimeoutError)
