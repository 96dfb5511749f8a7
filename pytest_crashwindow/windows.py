"""Windows and their ids: `POINT+N:FAULT`, nested ones joined by `/`. Pure functions of text.

An id may hold only what `-k` accepts, so any other character of a point's name is written `\\xHH`
(`\\uHHHH` beyond Latin-1); `/` and `+` are separators here and escaped as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_PLAIN = re.compile(r"[\w:.\-]+", re.ASCII)
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})")
_STEP = re.compile(r"(?P<point>(?:[\w:.\-]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})+)"
                   r"\+(?P<hit>[1-9][0-9]*):(?P<fault>[a-z_]+(?:\.[a-z\-]+)?)", re.ASCII)  # fmt: skip


def escape(point: str) -> str:
    """The name of a point as it stands in an id."""
    if _PLAIN.fullmatch(point):
        return point
    return "".join(c if _PLAIN.match(c) else _escaped(c) for c in point)


def unescape(text: str) -> str:
    """The inverse of `escape`."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1] or m[2] or m[3], 16)), text)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True)
class Step:
    """One fault at one hit of one point."""

    point: str
    hit: int
    fault: str

    def __str__(self) -> str:
        return f"{escape(self.point)}+{self.hit}:{self.fault}"


@dataclass(frozen=True)
class Window:
    """One or more steps, in the order in which they fire. `str(window)` is its id."""

    steps: tuple[Step, ...]

    @classmethod
    def at(cls, point: str, hit: int, fault: str) -> Window:
        """The window of a single fault."""
        return cls((Step(point, hit, fault),))

    @property
    def fault(self) -> str:
        """The fault of the last step, which is the one that this window adds."""
        return self.steps[-1].fault

    @property
    def point(self) -> str:
        """The point of the last step."""
        return self.steps[-1].point

    def then(self, step: Step) -> Window:
        """This window, followed by one more fault."""
        return Window((*self.steps, step))

    def __str__(self) -> str:
        return "/".join(str(step) for step in self.steps)


def parse(text: str) -> Window | None:
    """The window that an id means, or None if it is not the id of a window."""
    steps = []
    for part in text.split("/"):
        found = _STEP.fullmatch(part)
        if found is None:
            return None
        steps.append(Step(unescape(found["point"]), int(found["hit"]), found["fault"]))
    return Window(tuple(steps))


def split_hit(point: str) -> tuple[str, int | None]:
    """`"shop.paid+2"` -> `("shop.paid", 2)`; without a hit the second is None."""
    name, _, hit = point.rpartition("+")
    return (name, int(hit)) if name and hit.isascii() and hit.isdecimal() and int(hit) else (point, None)


def number(points: Iterable[str]) -> list[str]:
    """Names of points in the order passed -> hits: `["a", "b", "a"]` -> `["a+1", "b+1", "a+2"]`."""
    seen: dict[str, int] = {}
    hits = []
    for point in points:
        seen[point] = seen.get(point, 0) + 1
        hits.append(f"{point}+{seen[point]}")
    return hits
