"""Names of points: their ends, the globs that select them, and what is armed at them.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import translate

from .faults.base import Fault

ENDS = ("enter", "exit")


def split_end(point: str) -> tuple[str, str | None]:
    """`"os.replace:exit"` -> `("os.replace", "exit")`; a point without an end has None there."""
    call, _, end = point.rpartition(":")
    return (call, end) if call and end in ENDS else (point, None)


@functools.cache
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


def glob_matches(glob: str, text: str) -> bool:
    """Case-sensitive, over the whole text, on every platform."""
    if not is_glob(glob):
        return glob == text
    if glob[-1] == "*" and not is_glob(glob[:-1]):  # worlds and lives are too short to compile much
        return text.startswith(glob[:-1])
    return _compiled(glob).match(text) is not None


def is_glob(pattern: str) -> bool:
    """Whether a pattern can match more than the name that it spells."""
    return any(c in pattern for c in "*?[")


def matches(pattern: str, point: str, ends: Sequence[str] = ENDS) -> bool:
    """Whether a pattern means a point.

    Of a call, a pattern without an end of its own means those of `ends`: `shop.*` with ("enter",) is
    `shop.mail:send:enter` and not `shop.mail:send:exit`.
    """
    call, end = split_end(point)
    if end is None or split_end(pattern)[1] is not None:
        return glob_matches(pattern, point)
    return end in ends and glob_matches(pattern, call)


def selects(patterns: Iterable[str], point: str, ends: Sequence[str] = ENDS) -> bool:
    """Whether some pattern matches and no `!pattern` does. Exclusions alone exclude from everything."""
    wanted, unwanted = split_exclusions(patterns)
    if any(matches(pattern, point) for pattern in unwanted):
        return False
    return not wanted or any(matches(pattern, point, ends) for pattern in wanted)


def split_exclusions(patterns: Iterable[str]) -> tuple[list[str], list[str]]:
    """The patterns that select, and those that exclude (without their `!`)."""
    wanted: list[str] = []
    unwanted: list[str] = []
    for pattern in patterns:
        if pattern.startswith("!"):
            unwanted.append(pattern[1:])
        else:
            wanted.append(pattern)
    return wanted, unwanted


def names_it(patterns: Iterable[str], point: str) -> bool:
    """Whether a pattern spells the point out, which points that are seldom wanted require."""
    names = {point, split_end(point)[0]}
    return any(pattern in names for pattern in patterns)


@dataclass(frozen=True)
class Armed:
    """A fault that waits for its hit in a world."""

    index: int
    """its number in the world, which ties records to it"""
    pattern: str
    fault: Fault
    nth: int | None = 1
    """fire at the n-th hit that this waits for; None: at every one"""
    ordinal: int | None = None
    """fire only at this passing of the point, counted over the world (the `+2` of an id)"""
    match: str | None = None
    """a glob for one of the hit's arguments"""
    life: str | None = None
    """only in the life of this name"""
    after: int | None = None
    """only after the fault with this index has fired"""
    exact: bool = False
    """whether the pattern is a name, whatever characters it has"""

    def waits_at(self, point: str) -> bool:
        """Whether it may fire at this point."""
        if self.exact:
            return point == self.pattern
        return matches(self.pattern, point, self.fault.ends)

    def accepts(self, arguments: Sequence[object]) -> bool:
        """Whether `match` allows this hit."""
        return self.match is None or any(glob_matches(self.match, _as_text(a)) for a in arguments)


def _as_text(argument: object) -> str:
    return argument.decode("utf-8", "replace") if isinstance(argument, bytes) else str(argument)


@dataclass(frozen=True)
class Selection:
    """Which points are recorded. Armed points are recorded in any case."""

    patterns: tuple[str, ...] = ()
    """globs; empty or exclusions alone mean the project's own audit events, attached calls and probes"""
    only_by_name: frozenset[str] = field(default_factory=frozenset)
    """calls of probes that no glob selects, only their name (`sqlite3.execute`)"""
    also: tuple[str, ...] = ()
    """globs of a sweep's own, recorded as well; `!` leaves out"""

    def wants(self, point: str) -> bool:
        """For a point of a probe, of an attached call, or an audit event that isn't CPython's."""
        if split_end(point)[0] in self.only_by_name and not names_it((*self.patterns, *self.also), point):
            return False
        asked, left_out = split_exclusions(self.also)
        if any(matches(pattern, point) for pattern in left_out):
            return False
        if selects(self.patterns, point):
            return True
        excluded = any(matches(pattern, point) for pattern in split_exclusions(self.patterns)[1])
        # What the ini excludes, a glob doesn't bring back; its name does.
        return any(matches(pattern, point) and not (excluded and is_glob(pattern)) for pattern in asked)

    def wants_event_of_cpython(self, event: str) -> bool:
        """CPython raises well over a hundred events; they count only where they are spelled out."""
        if names_it(self.also, event):
            return True
        return names_it(self.patterns, event) and selects(self.patterns, event)
