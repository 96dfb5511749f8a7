"""What a sweep and its windows say."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from ..blocking import told
from ..choosing import window_id
from ..record import Hit
from ..windows import Window
from .wording import NO_LIFE, counted, did_you_mean, passed_points

_PYTHON = re.compile(r"['\"]\S*python[\d.]*[ '\"]")
"""a command line of which the program is an interpreter"""

if TYPE_CHECKING:
    from ..sweep import SweepPlan
    from ..world import World

_MOST = 10


ORDER_DIFFERS = "the two controls passed the same points in a different order (threads?)"


def not_passed(name: str) -> str:
    """A point that exists and is asked for by name."""
    return f"{name} was asked for, and the control doesn't pass it"


def idle_glob(glob: str) -> str:
    """A glob of the marker that selects, or leaves out, nothing."""
    return f"{glob!r} matches no point that the control passed"


def kinds_without_window(
    plan: SweepPlan, windows: Sequence[Window], idle: Sequence[str], without_call: Mapping[str, str]
) -> list[str]:
    """Kinds of fault that are asked for and make sense at no point of the control; `idle` globs are told already."""
    tried = {window.fault for window in windows}
    asked = {f.name: glob for kind in plan.kinds for glob, f in reversed(kind.faults) if glob not in idle}
    return [
        needs_call(name, without_call[name])
        if name in without_call
        else f"{name}={pattern!r} gives no window: it makes sense at no point of the control"
        for name, pattern in asked.items()
        if name not in tried
    ]


def needs_call(fault: str, pattern: str) -> str:
    """A fault that acts on a call as a whole, asked for at points that are none of an attached call."""
    return f"{fault}={pattern!r} gives no window: {fault} needs an attached call, named as pkg.module:function"


def no_window(
    plan: SweepPlan,
    hits: Sequence[Hit],
    lives: int,
    raised: Mapping[str, str],
    without_call: Mapping[str, str],
    unfinished: Sequence[str] = (),
) -> str:
    """A control that gives nothing to try.

    `raised` has lives that raised, and what; `unfinished` are those that were still running when the test body ended.
    """
    nothing = "the control passed no point, so there is no window to try: nothing would be tested.\n"
    if not lives:
        return f"{nothing}{NO_LIFE}"
    if not hits:
        if raised:
            return "\n".join([nothing.rstrip(), *(f"Life {life!r} raised {error}." for life, error in raised.items())])
        if unfinished:
            return f"{nothing}{_still_running(unfinished[0])}: wait() for it."
        return (
            f"{nothing}It ran {counted(lives, 'life', 'lives')}. Points are commits to SQLite, writes to files below "
            "tmp_path or crashwindow.state(...), requests, audit events of the code's own, and calls that are attached."
        )
    why = [needs_call(fault, pattern) for fault, pattern in without_call.items()]
    if len(why) < len(plan.kinds):
        why.insert(0, f"no point of the control is one that the sweep asks for ({', '.join(plan.patterns)}).")
    return "\n".join([*why, passed_points(hits)])


def programs_unseen(hits: Sequence[Hit]) -> list[str]:
    """Python programs that lives started: a sweep of what they do would find nothing there."""
    commands = (hit.arguments for hit in hits if hit.point == "subprocess.Popen:enter")
    programs = dict.fromkeys(_shortly(command) for command in commands if _PYTHON.match(command))
    return [f"a life started {one!r}: points inside it aren't seen, and its windows not tried" for one in programs]


def _shortly(command: str) -> str:
    interpreter, *rest = command.strip("'\"").split(" ")
    return " ".join([os.path.basename(interpreter), *rest[:1]])


def unknown_point(name: str, near: Sequence[str], hits: Sequence[Hit]) -> str:
    """A name that no code of the project has."""
    return f"crash_windows: unknown point {name!r}; {did_you_mean(near)}\n{passed_points(hits)}"


def unsteady(found: str, unfinished: Sequence[str] = ()) -> str:
    """Two controls that differ. `unfinished` are lives that were still running when the test body ended."""
    point = found.split("'")[1]
    differ = f"unsteady control: two runs without any fault differ: {found}.\n"
    if unfinished:
        return (
            f"{differ}{_still_running(unfinished[0])}, so how far it came is chance: "
            "wait() for it, or kill() it where that is meant."
        )
    return (
        f"{differ}"
        "A window could then not be told from chance. Take what varies (time, threads, random choices) out of the "
        f"test, or exclude a point that ticks by itself: crashwindow_points = !{point}\n"
        "If the second run met what the first one had left behind, tell where that is: crashwindow.state(path)."
    )


def _still_running(life: str) -> str:
    return f"Life {life!r} was still running when the test body ended"


def second_control_failed(text: str) -> str:
    """A control that passes once and then fails."""
    return f"unsteady control: the test passed in its first run without any fault and failed in the second:\n{text}"


def sweep_failed(bad: Sequence[dict[str, Any]], explored: int, known: int, stopped: str, notes: Sequence[str]) -> str:
    """The verdict of a sweep with failed windows."""
    lines = [f"{len(bad)} of {explored} windows failed:"] if bad else []
    for record in bad[:_MOST]:
        kind = "" if record["verdict"] == "failed" else f" ({record['verdict']})"
        text = f": {record['text']}" if record.get("text") else ""
        lines.append(f"  {record['window']}{kind}{text}")
    if len(bad) > _MOST:
        lines.append(f"  ... and {len(bad) - _MOST} more")
    if stopped:
        lines.append(f"explored {explored} of {known} known windows ({stopped})")
    return "\n".join([*lines, *notes])


def blocked(world: World) -> list[str]:
    """Of a pause that kept others waiting for a lock."""
    lines = []
    for event in told(world):
        who = f"life {event['life']!r}" if event["life"] else "the test body"
        lines.append(
            f"{who} waited in vain for life {event['blocked_by']!r}, which is paused at {event['at_point']} "
            f"and holds {event['holds']}."
        )
    if lines:
        lines.append(
            "  A process that stalls there blocks all others, in production too. If that isn't what the test is "
            'about: pause_at(..., scope="thread") with hold=[...], or leave this point out of pause=.'
        )
    return lines


def rerun(item: pytest.Item, window: Window) -> str:
    """One command for the shell, from where pytest was started."""
    return rerun_sweep(item, window_id(item, window))


def rerun_sweep(item: pytest.Item, nodeid: str) -> str:
    """The same for any node id of the item."""
    start = item.config.invocation_params.dir
    path = os.path.relpath(item.path, start)
    return f"pytest {shlex.quote(path + nodeid[len(nodeid.partition('::')[0]) :])}"
