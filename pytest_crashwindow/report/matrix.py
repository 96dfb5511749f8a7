"""The windows of a sweep as a table: points in the order passed, faults side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..windows import parse
from .wording import counted

Paint = Callable[[str, str], str]
"""gives a text the colour of `"good"`, `"bad"` or `"other"`, or leaves it"""

_ORDER = ("crash", "lost_ack", "error", "pause", "duplicate", "delay", "power_loss")
_MOST = 40  # rows on a terminal; beyond that those without a failure are counted
_SHORT = {
    "failed": "FAIL",
    "hung": "HUNG",
    "unattributed death": "DIED",
    "not reached": "MISS",
    "error": "ERROR",
    "xfailed": "xfail",
    "skipped": "skip",
}
NOT_SWEPT = "-"


@dataclass
class Cell:
    """The windows of one point and one fault, those of its later hits and nested ones included."""

    passed: int = 0
    others: dict[str, int] = field(default_factory=dict)
    """verdicts that aren't `passed`, and how often"""
    failed: int = 0

    @property
    def count(self) -> int:
        """All its windows."""
        return self.passed + sum(self.others.values())

    @property
    def tone(self) -> str:
        """`"good"`, `"bad"`, `"other"`."""
        return "bad" if self.failed else "other" if self.others else "good"

    def __str__(self) -> str:
        if not self.others:
            return "ok" if self.passed == 1 else f"ok {self.passed}"
        worst = next((name for name in self.others if name in _SHORT), "failed")
        name = "FAIL" if len(self.others) > 1 and self.failed else _SHORT.get(worst, worst)
        wrong = sum(self.others.values())
        return name if self.count == 1 else f"{name} {wrong}/{self.count}"


@dataclass
class Matrix:
    """Rows, columns and cells."""

    points: list[str]
    faults: list[str]
    cells: dict[tuple[str, str], Cell]
    unswept: list[str]
    """points that were passed, and of which no window was tried"""

    def row(self, point: str) -> list[Cell | None]:
        """The cells of a point; None where nothing was swept."""
        return [self.cells.get((point, fault)) for fault in self.faults]

    def is_good(self, point: str) -> bool:
        """Whether all windows of a point passed."""
        return all(cell is None or cell.tone == "good" for cell in self.row(point))


def of(points: Iterable[str], windows: Iterable[dict[str, Any]]) -> Matrix:
    """The table of some windows. A nested window stands where its first fault strikes."""
    cells: dict[tuple[str, str], Cell] = {}
    for window in windows:
        parsed = parse(window["window"])
        first = parsed.steps[0] if parsed else None
        key = (first.point, first.fault) if first else (window["point"], window["fault"])
        _count(cells.setdefault(key, Cell()), window)
    swept = list(dict.fromkeys(point for point, _ in cells))
    passed = list(dict.fromkeys(points))
    rows = [point for point in passed if point in swept] + [point for point in swept if point not in passed]
    faults = sorted({fault for _, fault in cells}, key=place_of)
    return Matrix(rows, faults, cells, [point for point in passed if point not in swept])


def _count(cell: Cell, window: dict[str, Any]) -> None:
    if window["outcome"] == "passed":
        cell.passed += 1
        return
    cell.failed += window["outcome"] == "failed"
    name = window["verdict"] if window["outcome"] == "failed" else window["outcome"]
    cell.others[name] = cell.others.get(name, 0) + 1


def place_of(fault: str) -> tuple[int, str]:
    """Faults stand in this order wherever they are told side by side."""
    kind = fault.partition(".")[0]
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), fault)


def unpainted(text: str, tone: str) -> str:
    """Plain, as in the log of a CI job."""
    return text


def text(matrix: Matrix, width: int = 80, paint: Paint = unpainted) -> list[str]:
    """For a terminal. Where the table would be wider than `width`, long names are cut in the middle."""
    if not matrix.cells:
        return []
    points = matrix.points
    if len(points) > _MOST:
        points = [point for point in points if not matrix.is_good(point)][:_MOST]
    columns = [_column(matrix, fault) for fault in matrix.faults]
    room = width - 2 - sum(size + 2 for size in columns)
    if room < 16:
        return [*_stacked(matrix, points, width, paint), *_left_out(matrix, points)]
    names = {point: _cut(point, room) for point in points}
    first = max([len(name) for name in names.values()] + [5])
    heads = "  ".join(f"{fault:{size}}" for fault, size in zip(matrix.faults, columns, strict=True))
    lines = [f"  {'':{first}}  {heads}".rstrip()]
    for point in points:
        row = zip(matrix.row(point), columns, strict=True)
        cells = "  ".join(_painted(cell, size, paint) for cell, size in row)
        lines.append(f"  {names[point]:{first}}  {cells}".rstrip())
    return [*lines, *_left_out(matrix, points)]


def _column(matrix: Matrix, fault: str) -> int:
    cells = [str(cell) for (_, one), cell in matrix.cells.items() if one == fault]
    return max(len(text) for text in [fault, *cells])


def _painted(cell: Cell | None, size: int, paint: Paint) -> str:
    if cell is None:
        return f"{NOT_SWEPT:{size}}"
    shown = str(cell)
    return paint(shown, cell.tone) + " " * (size - len(shown))


def _stacked(matrix: Matrix, points: list[str], width: int, paint: Paint) -> list[str]:
    """Where not even short names leave room for the columns."""
    lines = []
    for point in points:
        lines.append(f"  {_cut(point, width - 2)}")
        pairs = [(f, c) for f, c in zip(matrix.faults, matrix.row(point), strict=True) if c is not None]
        lines += [f"    {fault} {paint(str(cell), cell.tone)}" for fault, cell in pairs]
    return lines


def _left_out(matrix: Matrix, shown: list[str]) -> list[str]:
    lines = []
    rest = [point for point in matrix.points if point not in shown]
    if rest:
        good = all(matrix.is_good(point) for point in rest)
        lines.append(f"  ... and {counted(len(rest), 'more point')}{', all ok' if good else ''}")
    if matrix.unswept:
        lines.append(f"  not swept: {counted(len(matrix.unswept), 'more point')} that the control passed")
    return lines


def _cut(name: str, room: int) -> str:
    if len(name) <= room or room < 6:
        return name[: max(room, 1)]
    half = (room - 3) // 2
    return f"{name[: room - 3 - half]}...{name[-half:]}"
