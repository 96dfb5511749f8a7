"""Ids of windows: printed, parsed, and made only of characters that `-k` accepts."""

from __future__ import annotations

import re

import pytest

from pytest_crashwindow.windows import Step, Window, escape, number, parse, split_hit, unescape

NAMES = [
    "shop.order.committed",
    "shop.mail:Mailer.send:exit",
    "a b",
    "a/b+1",
    "naïve",
    "日本",
    "😀",
    "a\\b",
    "[x]",
    "-_",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_survives_being_printed_and_parsed(name: str) -> None:
    window = Window.at(name, 2, "crash").then(Step(name, 1, "power_loss.lose-all"))
    assert parse(str(window)) == window
    assert unescape(escape(name)) == name


@pytest.mark.parametrize("name", NAMES)
def test_ids_have_only_what_k_accepts(name: str) -> None:
    assert re.fullmatch(r"[\w:+\-./\\]+", str(Window.at(name, 1, "crash")), re.ASCII)


def test_an_id_reads_as_documented() -> None:
    window = Window.at("shop.paid", 2, "crash").then(Step("shop.mail:send:exit", 1, "lost_ack"))
    assert str(window) == "shop.paid+2:crash/shop.mail:send:exit+1:lost_ack"
    assert (window.point, window.fault) == ("shop.mail:send:exit", "lost_ack")


@pytest.mark.parametrize("text", ["", "shop.paid", "shop.paid:crash", "shop.paid+0:crash", "a b+1:crash", "a+1:crash/"])
def test_what_is_no_id_is_none(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a+2", ("a", 2)), ("a", ("a", None)), ("a+0", ("a+0", None)), ("a+b", ("a+b", None)), ("+1", ("+1", None))],
)
def test_a_point_may_carry_its_hit(text: str, expected: tuple[str, int | None]) -> None:
    assert split_hit(text) == expected


def test_hits_are_numbered_for_each_point() -> None:
    assert number(["a", "b", "a"]) == ["a+1", "b+1", "a+2"]
