"""Which kind of window a timeline shows: each kind both ways, and silence where nothing is clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow.report import kinds
from pytest_crashwindow.report.kinds import Control, Kind, kind_of
from pytest_crashwindow.report.timeline import Entry

COMMIT = "point A sqlite3.commit:exit+1"
MAIL = "effect - mail"


def timeline(*lines: str) -> list[Entry]:
    """`KIND LIFE NAME`; a life `-` is none."""
    told = []
    for at, text in enumerate(lines):
        kind, life, name = text.split(" ", 2)
        told.append(Entry(at, kind, "" if life == "-" else life, name))
    return told


@pytest.mark.parametrize(
    ("lines", "control", "expected"),
    [
        (["point A open:exit+1", "fault A crash at open:exit+1"], None, kinds.HALF_WRITTEN),
        (["point A file.write:enter+2", "fault A crash at file.write:enter+2"], None, kinds.HALF_WRITTEN),
        (["point A open:enter+1", "fault A crash at open:enter+1"], None, None),
        ([MAIL, "fault A crash at shop.sent+1", MAIL], None, kinds.EFFECT_UNRECORDED),
        ([COMMIT, MAIL, "fault A crash at shop.sent+1", MAIL], None, kinds.EFFECT_UNRECORDED),
        ([MAIL, "fault A crash at shop.sent+1"], None, None),
        ([MAIL, COMMIT, "fault A crash at shop.paid+1", MAIL], Control(1, 1), None),
        ([COMMIT, "fault A crash at shop.paid+1"], Control(1, 1), kinds.EFFECT_MISSING),
        ([COMMIT, "fault A crash at shop.paid+1", MAIL], Control(1, 1), None),
        ([COMMIT, "fault A crash at shop.paid+1"], None, None),
        ([COMMIT, "fault A crash at shop.paid+1"], Control(0, 2), kinds.TWO_TRANSACTIONS),
        ([COMMIT, "fault A crash at shop.paid+1", COMMIT], Control(0, 2), None),
        ([MAIL, "fault A lost_ack at shop.mail:send:exit+1", MAIL], None, kinds.LOST_ANSWER),
        ([MAIL, "fault A lost_ack at shop.mail:send:exit+1"], None, None),
        (["fault A duplicate at shop:receive:enter+1", MAIL, MAIL], None, kinds.DELIVERED_TWICE),
        (["fault A duplicate at shop:receive:enter+1", MAIL], None, None),
        (
            ["fault A pause at shop.done+1", "point B sqlite3.commit:exit+1", "resumed A -", COMMIT],
            None,
            kinds.STALE_WORKER,
        ),
        (["fault A pause at shop.done+1", "resumed A -", COMMIT], None, None),
        (["fault A pause at shop.done+1", "point B sqlite3.commit:exit+1", "resumed A -"], None, None),
        (["fault A pause at shop.done+1", "point B sqlite3.commit:exit+1"], None, None),
        (["fault A crash at a+1", "fault B crash at a+2"], None, kinds.IN_RECOVERY),
        (["fault A pause at a+1", "fault B pause at a+2"], None, None),
        (["fault A delay at a+1", "fault A crash at b+1"], None, None),
        (["fault A delay at a+1", MAIL, MAIL], None, None),
        ([MAIL, MAIL], None, None),
    ],
)
def test_the_kind_that_a_timeline_shows(lines: list[str], control: Control | None, expected: Kind | None) -> None:
    assert kind_of(timeline(*lines), control) == expected


def test_a_control_is_counted() -> None:
    assert Control.of(timeline(MAIL, COMMIT, "point A http.request:exit+1", "point A shop.paid+1")) == Control(2, 1)


def test_every_kind_has_its_page() -> None:
    root = Path(__file__).parent.parent.parent
    pages = {kind.page for kind in vars(kinds).values() if isinstance(kind, Kind)}
    assert pages
    assert [page for page in pages if not (root / "docs" / "how-to" / f"{page}.md").is_file()] == []
