"""Whether a failed assertion looked at memory that a life has a copy of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import Mock

import pytest

from pytest_crashwindow.report.memory import looked_at

SENT: list[str] = []


def place(order: str, send: Callable[[str], object]) -> None:
    send(order)


def rows() -> list[str]:
    return []


class Gateway:
    def __init__(self) -> None:
        self.sent: list[str] = []

    def send(self, order: str) -> None:
        self.sent.append(order)


@dataclass
class Outbox:
    sent: list[str] = field(default_factory=list)

    def __call__(self, order: str) -> None:
        self.sent.append(order)


def bound_method() -> Any:
    sent: list[str] = []
    yield partial(place, "o", sent.append)
    assert sent == ["o"]


def closure() -> Any:
    sent: list[str] = []
    yield partial(place, "o", lambda order: sent.append(order))
    assert len(sent) == 1


def nested_closure() -> Any:
    sent: dict[str, int] = {}

    def send(order: str) -> None:
        sent[order] = 1

    yield lambda: place("o", send)
    assert list(sent) == ["o"]


def variable() -> Any:
    count = 0

    def send(order: str) -> None:
        nonlocal count
        count += 1

    yield partial(place, "o", send)
    assert count == 1


def module_global() -> Any:
    yield partial(place, "o", lambda order: SENT.append(order))
    assert SENT == ["o"]


def own_object() -> Any:
    gateway = Gateway()
    yield partial(place, "o", gateway.send)
    assert gateway.sent == ["o"]


def own_dataclass() -> Any:
    outbox = Outbox()
    yield partial(place, "o", outbox)
    assert (
        outbox.sent
        == ["o"]
    )  # fmt: skip


def mock() -> Any:
    send = Mock()
    yield partial(place, "o", send)
    send.assert_called_once()


def rows_of_a_database() -> Any:
    sent: list[str] = []
    yield partial(place, "o", sent.append)
    assert rows() == ["o"]


def input_of_the_life() -> Any:
    order = {"id": 7}
    yield partial(place, order, print)  # type: ignore[arg-type]
    assert rows() == [order]


def list_that_no_life_has() -> Any:
    sent: list[str] = []
    yield partial(place, "o", print)
    assert sent == ["o"]


def no_assertion() -> Any:
    sent: list[str] = []
    yield partial(place, "o", sent.append)
    raise KeyError(sent)


def said_of(test: Callable[[], Any]) -> bool:
    running = test()
    target = next(running)
    with pytest.raises((AssertionError, KeyError)) as raised:
        next(running)
    return looked_at(raised.value, __file__, [target])


@pytest.mark.parametrize(
    "test",
    [bound_method, closure, nested_closure, variable, module_global, own_object, own_dataclass, mock],
)
def test_it_did(test: Callable[[], Any]) -> None:
    assert said_of(test)


@pytest.mark.parametrize("test", [rows_of_a_database, input_of_the_life, list_that_no_life_has, no_assertion])
def test_it_did_not(test: Callable[[], Any]) -> None:
    assert not said_of(test)
