"""Patterns that select points."""

from __future__ import annotations

import pytest

from pytest_crashwindow.faults import Crash, Error, LostAck
from pytest_crashwindow.points import Armed, Selection, selects, split_end


@pytest.mark.parametrize(
    ("point", "parts"),
    [
        ("os.replace:exit", ("os.replace", "exit")),
        ("m:f:enter", ("m:f", "enter")),
        ("shop.paid", ("shop.paid", None)),
        ("m:f", ("m:f", None)),
        (":exit", (":exit", None)),
    ],
)
def test_the_end_of_a_point(point: str, parts: tuple[str, str | None]) -> None:
    assert split_end(point) == parts


@pytest.mark.parametrize(
    ("patterns", "point", "wanted"),
    [
        ([], "a", True),
        (["shop.*"], "shop.paid", True),
        (["shop.*"], "other", False),
        (["shop.*", "!shop.poll"], "shop.poll", False),
        (["!shop.poll"], "shop.paid", True),
        (["!m:f"], "m:f:exit", False),
        (["SHOP.*"], "shop.paid", False),
    ],
)
def test_globs_and_exclusions(patterns: list[str], point: str, wanted: bool) -> None:
    assert selects(patterns, point) is wanted


def test_a_call_without_an_end_means_the_ends_of_the_fault() -> None:
    waits = {
        fault.name: [end for end in ("enter", "exit") if Armed(0, "m:f", fault).waits_at(f"m:f:{end}")]
        for fault in (Crash(), Error(), LostAck())
    }
    assert waits == {"crash": ["enter", "exit"], "error": ["enter"], "lost_ack": ["exit"]}


def test_match_looks_at_every_argument_as_text() -> None:
    armed = Armed(0, "a", Crash(), match="7*")
    assert armed.accepts(["x", 70])
    assert not armed.accepts(["x", 17])
    assert not armed.accepts([])
    assert armed.accepts([b"7-days"])


def test_points_that_are_seldom_wanted_must_be_spelled_out() -> None:
    seldom = frozenset({"sqlite3.execute"})
    assert not Selection((), seldom).wants("sqlite3.execute:enter")
    assert not Selection(("sqlite3.*",), seldom).wants("sqlite3.execute:enter")
    assert Selection(("sqlite3.execute",), seldom).wants("sqlite3.execute:enter")
    assert not Selection(("*",)).wants_event_of_cpython("os.chmod")
    assert Selection(("os.chmod",)).wants_event_of_cpython("os.chmod")
