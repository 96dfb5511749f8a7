"""The story of one world, line by line: lives, points, the fault, effects, observations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..record import Fired, Hit
from ..world import World

_MOST = 60  # lines of a timeline; the middle is left out beyond that


@dataclass(frozen=True)
class Entry:
    """One thing that happened."""

    at: int
    """nanoseconds of the monotonic clock"""
    life: str
    text: str


_VERBS = {
    "started": "started (pid {pid})",
    "paused": "paused",
    "resumed": "resumed",
    "ended": "{outcome}",
}


def entries(world: World, effects: Iterable[tuple[str, str, int]] = ()) -> list[Entry]:
    """Everything that is written down about a world, in the order in which it happened."""
    told = [_of_event(event) for event in world.events() if event["event"] != "world"]
    passed = [_of_hit(hit) for hit in world.hits()]
    faults = [_of_fault(fired) for fired in world.fired()]
    done = [Entry(at, "", f"effect {name} {key}".rstrip()) for name, key, at in effects]
    return sorted([*told, *passed, *faults, *done], key=lambda entry: entry.at)


def _of_event(event: Mapping[str, Any]) -> Entry:
    kind = event["event"]
    if kind == "observed":
        text = f"observed {event['name']} = {json.dumps(event['value'], ensure_ascii=False)}"
    elif kind == "problem":
        text = f"!! {event['verdict']}"
    else:
        text = _VERBS[kind].format(**event)
    return Entry(event["at"], event["life"], text)


def _of_hit(hit: Hit) -> Entry:
    arguments = f" ({hit.arguments})" if hit.arguments else ""
    return Entry(hit.at, hit.life, f"{hit}{arguments}")


def _of_fault(fired: Fired) -> Entry:
    file, line, function = fired.where[0] if fired.where else ("?", 0, "?")
    return Entry(fired.at, fired.life, f">> {fired.fault} at {fired.point}+{fired.ordinal}, {file}:{line} in {function}")


def text(world: World, effects: Iterable[tuple[str, str, int]] = ()) -> str:
    """The timeline as a block of text."""
    told = entries(world, effects)
    start = min([event["at"] for event in world.events()] + [entry.at for entry in told], default=0)
    width = max((len(entry.life) for entry in told), default=0)
    lines = [f"{(entry.at - start) / 1e6:9.1f} ms  {entry.life:{width}}  {entry.text}" for entry in told]
    return "\n".join(_middle_left_out(lines))


def _middle_left_out(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST:
        return lines
    half = _MOST // 2
    return [*lines[:half], f"      ... {len(lines) - 2 * half} more ...", *lines[-half:]]
