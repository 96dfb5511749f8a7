"""`delay` at an attached `async def`: its caller waits, and the event loop goes on."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest


async def slow() -> int:
    return 1


def made() -> Any:
    """An ordinary function that hands out a coroutine."""
    return slow()


async def _ticks_during(call: Any) -> tuple[int, float]:
    """How often another task has its turn meanwhile, and how long the call takes."""
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    begun = time.monotonic()
    assert await call() == 1
    ticking.cancel()
    return ticks, time.monotonic() - begun


@pytest.mark.parametrize(
    "at", [f"{__name__}:slow", f"{__name__}:slow:enter", f"{__name__}:slow:exit", f"{__name__}:made:exit"]
)
def test_other_tasks_go_on(crashwindow: Any, at: str) -> None:
    call = made if ":made" in at else slow
    ticks, seconds = crashwindow.run(_ticks_during, call, delay_at=(at, 0.3)).value
    assert (ticks > 5, seconds >= 0.3) == (True, True)


@pytest.mark.delay_at(f"{__name__}:slow", 0.1)
@pytest.mark.duplicate_at(f"{__name__}:slow")
@pytest.mark.delay_at(f"{__name__}:slow", 0.1)
def test_delays_add_up_and_other_faults_act_as_well(crashwindow: Any) -> None:
    _, seconds = crashwindow.run(_ticks_during, slow).value
    assert seconds >= 0.2


@pytest.mark.delay_at(f"{__name__}:slow", 30)
def test_it_can_be_cancelled(crashwindow: Any) -> None:
    async def cancelled() -> str:
        try:
            await asyncio.wait_for(slow(), 0.1)
        except asyncio.TimeoutError:  # noqa: UP041  # another class before Python 3.11
            return "cancelled"
        return "done"

    assert crashwindow.run(cancelled).value == "cancelled"


@pytest.mark.delay_at(f"{__name__}:slow", 0.1)
def test_without_asyncio_the_thread_sleeps(crashwindow: Any) -> None:
    def driven() -> tuple[int, float]:
        begun = time.monotonic()
        try:
            slow().send(None)
        except StopIteration as end:
            return end.value, time.monotonic() - begun
        raise AssertionError("it awaits something")

    value, seconds = crashwindow.run(driven).value
    assert (value, seconds >= 0.1) == (1, True)
