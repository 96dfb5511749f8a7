"""The table of points and faults, as text."""

from __future__ import annotations

from typing import Any

from pytest_crashwindow.report import matrix


def window(name: str, verdict: str = "passed", outcome: str | None = None) -> dict[str, Any]:
    return {"window": name, "verdict": verdict, "outcome": outcome or ("passed" if verdict == "passed" else "failed")}


WINDOWS = [
    window("shop.a+1:crash"),
    window("shop.a+2:crash"),
    window("shop.a+1:pause", "hung"),
    window("shop.b+1:crash", "failed"),
    window("shop.b+1:crash/shop.a+2:crash"),
    window("shop.c+1:crash", "failed", "xfailed"),
    window("shop.c+1:lost_ack", "unattributed death"),
]


def test_points_in_the_order_passed_and_faults_in_a_fixed_order() -> None:
    assert matrix.text(matrix.of(["shop.a", "shop.b", "shop.x", "shop.c"], WINDOWS)) == [
        "          crash     lost_ack  pause",
        "  shop.a  ok 2      -         HUNG",
        "  shop.b  FAIL 1/2  -         -",
        "  shop.c  xfail     DIED      -",
        "  not swept: 1 more point that the control passed",
    ]


def test_long_names_are_cut_in_the_middle() -> None:
    table = matrix.of([], [window("shop.a_very_long_name.of_a_point_that.goes_on_and_on+1:crash")])
    assert matrix.text(table, 40) == [
        "                                   crash",
        "  shop.a_very_lo...goes_on_and_on  ok",
    ]
    assert all(len(line) <= 40 for line in matrix.text(table, 40))


def test_where_columns_have_no_room_they_are_stacked() -> None:
    assert matrix.text(matrix.of(["shop.a", "shop.b"], WINDOWS[:4]), 30) == [
        "  shop.a",
        "    crash ok 2",
        "    pause HUNG",
        "  shop.b",
        "    crash FAIL",
    ]


def test_of_many_points_those_that_are_fine_are_counted() -> None:
    many = [window(f"shop.p{n}+1:crash", "failed" if n == 17 else "passed") for n in range(60)]
    assert matrix.text(matrix.of([], many)) == [
        "            crash",
        "  shop.p17  FAIL",
        "  ... and 59 more points, all ok",
    ]


def test_colour_is_outside_the_columns() -> None:
    lines = matrix.text(matrix.of([], WINDOWS[:3]), paint=lambda text, tone: f"<{tone}>{text}</>")
    assert lines[1] == "  shop.a  <good>ok 2</>   <bad>HUNG</>"


def test_nothing_to_show() -> None:
    assert matrix.text(matrix.of(["shop.a"], [])) == []
