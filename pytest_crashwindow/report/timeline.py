"""The story of one world, line by line: lives, points, the fault, effects, observations."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..record import Fired
from ..world import World

_LIBRARY = os.path.dirname(os.__file__) + os.sep
_MOST = 60  # lines of a timeline; the middle is left out beyond that


@dataclass(frozen=True)
class Entry:
    """One thing that happened."""

    at: int
    """nanoseconds of the monotonic clock"""
    kind: str
    """`started`, `paused`, `resumed`, `ended`, `point`, `fault`, `effect`, `observed` or `problem`"""
    life: str
    name: str
    """of the point, effect, observation; of an end its outcome"""
    detail: Any = ""
    """arguments, key, value; of a fault the place in the code"""

    def __str__(self) -> str:
        return _TEXTS[self.kind].format(name=self.name, detail=_shown(self.detail)).rstrip()


_TEXTS = {
    "started": "started (pid {detail})",
    "paused": "paused",
    "resumed": "resumed",
    "ended": "{name} {detail}",
    "point": "{name} {detail}",
    "fault": ">> {name}, {detail}",
    "effect": "effect {name} {detail}",
    "observed": "observed {name} = {detail}",
    "problem": "!! {name}",
    "left out": "... {name} left out ...",
}


def _shown(detail: Any) -> str:
    return detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)


def entries(world: World, effects: Iterable[tuple[str, str, int]] = ()) -> list[Entry]:
    """Everything that is written down about a world, in the order in which it happened."""
    told = [_of_event(event) for event in world.events() if event["event"] != "world"]
    passed = [
        Entry(hit.at, "point", hit.life, str(hit), hit.arguments and f"({hit.arguments})") for hit in world.hits()
    ]
    faults = [_of_fault(fired) for fired in world.fired()]
    done = [Entry(at, "effect", "", name, key) for name, key, at in effects]
    return sorted([*told, *passed, *faults, *done], key=lambda entry: entry.at)


def _of_event(event: Mapping[str, Any]) -> Entry:
    kind, at, life = event["event"], event["at"], event["life"]
    if kind == "observed":
        return Entry(at, kind, life, event["name"], event["value"])
    name = {"ended": event.get("outcome", ""), "problem": event.get("verdict", "")}.get(kind, "")
    return Entry(at, kind, life, name, event.get("pid", event.get("error", "")))


def _of_fault(fired: Fired) -> Entry:
    own = [frame for frame in fired.where if not _is_library(frame[0])]
    file, line, function = next(iter([*own, *fired.where]), ("?", 0, "?"))
    name = f"{fired.fault} at {fired.point}+{fired.ordinal}"
    return Entry(fired.at, "fault", fired.life, name, f"{file}:{line} in {function}")


def _is_library(file: str) -> bool:
    return "site-packages" in file or file.startswith((_LIBRARY, "<"))


def as_data(world: World, effects: Iterable[tuple[str, str, int]] = ()) -> list[dict[str, Any]]:
    """The timeline for report files; `ms` counts from the world's beginning."""
    told = entries(world, effects)
    start = _start(world, told)
    return [
        {
            "ms": round((e.at - start) / 1e6, 3),
            "kind": e.kind,
            "life": e.life,
            "name": e.name,
            "detail": e.detail,
        }
        for e in told
    ]


def _start(world: World, told: Iterable[Entry]) -> int:
    return min([event["at"] for event in world.events()] + [entry.at for entry in told], default=0)


def text(world: World, effects: Iterable[tuple[str, str, int]] = (), shorten: Callable[[str], str] = str) -> str:
    """The timeline as a block of text; `shorten` writes paths as people read them."""
    told = entries(world, effects)
    start = _start(world, told)
    lines = _aligned([((entry.at - start) / 1e6, entry.life, shorten(str(entry))) for entry in told])
    return "\n".join(_middle_left_out(lines))


def lines_of_data(told: Sequence[Mapping[str, Any]]) -> list[str]:
    """The same lines from what `as_data` gave."""
    return _aligned([(e["ms"], e["life"], str(Entry(0, e["kind"], e["life"], e["name"], e["detail"]))) for e in told])


def _aligned(told: Sequence[tuple[float, str, str]]) -> list[str]:
    """Lines of milliseconds, life and what happened."""
    width = max((len(life) for _, life, _ in told), default=0)
    return [f"{ms:9.1f} ms  {life:{width}}  {text}" for ms, life, text in told]


def _middle_left_out(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST:
        return lines
    half = _MOST // 2
    return [*lines[:half], f"      ... {len(lines) - 2 * half} more ...", *lines[-half:]]
