"""What a sweep tries: from the hits of a control to windows. Pure functions of hits and patterns."""

from __future__ import annotations

import difflib
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arming import Faults, armed_for_window, check_end
from .calls import refusal
from .errors import BadOption
from .faults import Fault
from .installing import kind_of
from .points import Armed, is_glob, matches, split_end, split_exclusions
from .record import Hit
from .windows import Step, Window

MARKER = "crash_windows"
_FOLDED = "file.write"  # a big file is written in many pieces; only the first and the last are windows


@dataclass(frozen=True)
class Kind:
    """One kind of fault in a sweep: where it is tried, and with which parameters."""

    faults: tuple[tuple[str, Fault], ...]
    """globs, each with the fault as configured for it; the first that matches counts"""
    unwanted: tuple[str, ...] = ()

    def at(self, point: str, calls: frozenset[str]) -> Fault | None:
        """The fault to try at a point, or None."""
        if any(matches(pattern, point) for pattern in self.unwanted):
            return None
        for pattern, fault in self.faults:
            if matches(pattern, point, fault.ends) and _makes_sense(fault, point, calls):
                return fault
        return None


def _makes_sense(fault: Fault, point: str, calls: frozenset[str]) -> bool:
    call, end = split_end(point)
    if fault.only_calls and not (call in calls and end in fault.ends):
        return False
    if call in calls and refusal(call, kind_of(call) or "", fault.name):
        return False
    return not (fault.name == "lost_ack" and end == "enter")


@dataclass(frozen=True)
class SweepPlan:
    """What one `crash_windows` marker asks for."""

    kinds: tuple[Kind, ...]
    patterns: tuple[str, ...]
    """all globs of all kinds; points that every kind leaves out, with `!`"""
    calls: tuple[str, ...]
    depth: int
    max_windows: int | None
    excluded: tuple[str, ...] = ()
    """what the marker itself leaves out, without the `!`"""
    globs: tuple[str, ...] = ()
    """the globs that the marker itself gives, without those that leave out"""

    def fault_at(self, name: str, point: str, calls: frozenset[str]) -> Fault | None:
        """The fault of this name that the sweep tries at a point."""
        found = [fault for kind in self.kinds if (fault := kind.at(point, calls)) and fault.name == name]
        return found[0] if found else None

    def windows(self, hits: Sequence[Hit], calls: frozenset[str], before: Window | None = None) -> list[Window]:
        """The windows of these hits in the order passed; `before` is the window that they come after."""
        found = []
        for hit in folded(hits, self._spelled_out()):
            for kind in self.kinds:
                fault = kind.at(hit.point, calls)
                if fault is not None:
                    step = Step(hit.point, hit.ordinal, fault.name)
                    found.append(before.then(step) if before else Window((step,)))
        return found

    def armed(self, window: Window, faults: Faults, calls: frozenset[str], first: int = 0) -> list[Armed]:
        """A window's faults. One that this sweep would not try itself gets the fault's defaults."""
        at: dict[tuple[str, str], Fault] = {}
        for step in window.steps:
            fault = self.fault_at(step.fault, step.point, calls)
            if fault is None:
                if step.fault not in faults:
                    raise BadOption(f"window {window}: no fault {step.fault!r}; there are {', '.join(faults.names)}")
                fault = faults[step.fault]
            at[step.fault, step.point] = fault
        return armed_for_window(window, at, first)

    def unpassed(self, hits: Sequence[Hit]) -> list[str]:
        """Points that are spelled out and that no hit has, which may be a slip of the pen."""
        return unpassed([pattern for pattern in self.patterns if not pattern.startswith("!")], hits)

    def idle_globs(self, passed: Iterable[str]) -> list[str]:
        """Globs of the marker that match none of these points, which may be slips of the pen as well."""
        points = set(passed)
        return [glob for glob in self.globs if not any(matches(glob, point) for point in points)]

    def without_call(self, hits: Sequence[Hit], calls: frozenset[str]) -> dict[str, str]:
        """Faults that act on attached calls only and were asked for at other points -> the pattern."""
        points = {hit.point for hit in hits}
        found = dict[str, str]()
        for pattern, fault in (one for kind in self.kinds for one in kind.faults if one[1].only_calls):
            meant = {split_end(point)[0] for point in points if matches(pattern, point)}
            if meant and not meant & calls:
                found.setdefault(fault.name, pattern)
        return found

    def _spelled_out(self) -> bool:
        return any(split_end(pattern)[0] == _FOLDED for pattern in self.patterns)


def plan_from(args: Sequence[Any], kwargs: Mapping[str, Any], faults: Faults, defaults: Defaults) -> SweepPlan:
    """What `@pytest.mark.crash_windows(*args, **kwargs)` asks for. Raises BadOption."""
    given = dict(kwargs)
    if len(args) > 1:
        raise BadOption(f"{MARKER}: takes one positional argument, the points for crash=; give several globs as a list")
    if args:
        if "points" in given:
            raise BadOption(f"{MARKER}: points is given twice")
        given["points"] = args[0]
    calls = _globs("calls", given.pop("calls", ()))
    depth = _whole("depth", given.pop("depth", None), defaults.depth)
    most = _whole("max_windows", given.pop("max_windows", None), defaults.max_windows)
    if given.get("points") is not None and given.get("crash") is not None:
        raise BadOption(f"{MARKER}: points is short for crash=; give one of them")
    points = given.pop("points", None)
    if points is not None:
        given["crash"] = points
    _refuse_unknown(given, faults)
    wanted = {name: value for name, value in given.items() if value is not None}
    by_marker = bool(wanted)
    if not by_marker:
        wanted = {"crash": defaults.points or ("*",)}
    kinds = tuple(_kind(faults[name], wanted[name]) for name in faults.names if name in wanted)
    excluded = tuple(pattern for kind in kinds if by_marker for pattern in kind.unwanted)
    assert depth is not None
    globs = _globs_of(kinds) if by_marker else ()
    return SweepPlan(kinds, tuple(_patterns(kinds)), tuple(calls), depth, most, excluded, globs)


def _globs_of(kinds: Sequence[Kind]) -> tuple[str, ...]:
    """The globs of all kinds, without those that leave out."""
    given = [pattern for kind in kinds for pattern, _ in kind.faults]
    return tuple(dict.fromkeys(pattern for pattern in given if is_glob(pattern)))


def _patterns(kinds: Sequence[Kind]) -> list[str]:
    """The globs of all kinds, and with `!` those that every kind leaves out."""
    wanted = [pattern for kind in kinds for pattern, _ in kind.faults]
    unwanted = [pattern for pattern in kinds[0].unwanted if all(pattern in kind.unwanted for kind in kinds)]
    return [*wanted, *(f"!{pattern}" for pattern in unwanted)]


@dataclass(frozen=True)
class Defaults:
    """What the options say where a marker says nothing."""

    points: tuple[str, ...] = ()
    depth: int = 1
    max_windows: int | None = None


def _refuse_unknown(given: Mapping[str, Any], faults: Faults) -> None:
    known = [*faults.names, "points", "calls", "depth", "max_windows"]
    for name in given:
        if name not in faults:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise BadOption(f"{MARKER}: unknown argument {name!r}{hint} There are: {', '.join(known)}")


def _whole(name: str, value: object, default: int | None) -> int | None:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadOption(f"{MARKER}: {name} is a whole number from 1, got {value!r}")
    return value


def _globs(name: str, value: object) -> list[str]:
    globs = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple | set) else None
    if globs is None or not all(isinstance(glob, str) and glob for glob in globs):
        raise BadOption(f"{MARKER}: {name} takes {_TAKEN.get(name, _TAKEN_ELSE)}, not {value!r}")
    return globs


_TAKEN = {
    "calls": "the name of a call such as 'shop.mail:send' or a list of them",
    "error": "a mapping from glob to exception such as {'shop.*': OSError}, a glob or a list of globs",
    "lost_ack": "a mapping from glob to exception such as {'shop.*': TimeoutError}, a glob or a list of globs",
}
_TAKEN_ELSE = "a glob such as 'shop.*' or a list of them"


def _kind(fault: Fault, value: object) -> Kind:
    label = f"{MARKER}({fault.name}=...)"
    if isinstance(value, Mapping):
        if len(fault.parameters) != 1:
            raise BadOption(f"{label}: takes a glob or a list of globs, not a mapping")
        configured = [(g, _configured(fault, label, parameter)) for g, parameter in value.items()]
        for glob in _globs(fault.name, [g for g, _ in configured]):
            if glob.startswith("!"):
                raise BadOption(f"{label}: {glob!r} excludes, which only a list can; a mapping names what is wanted")
            if not is_glob(glob):
                check_end(fault, glob, label)
        return Kind(tuple(configured))
    if "seconds" in fault.required:
        raise BadOption(f"{label}: takes a mapping from glob to {fault.required[0]}, such as {{'shop.*': 0.5}}")
    wanted, unwanted = split_exclusions(_globs(fault.name, value))
    for pattern in wanted:
        if not is_glob(pattern):
            check_end(fault, pattern, label)
    return Kind(tuple((glob, fault) for glob in wanted or ["*"]), tuple(unwanted))


def _configured(fault: Fault, label: str, parameter: object) -> Fault:
    try:
        return fault.configured(**{fault.parameters[0]: parameter})
    except BadOption as error:
        raise BadOption(f"{label}: {error}") from None


# -- hits ------------------------------------------------------------------------------------


def folded(hits: Sequence[Hit], spelled_out: bool = False) -> list[Hit]:
    """Of an unbroken run of raw writes to one file, the first and the last; everything else as it is."""
    if spelled_out:
        return list(hits)
    kept: list[Hit] = []
    run: list[Hit] = []
    for hit in [*hits, None]:
        if hit is not None and split_end(hit.point)[0] == _FOLDED and (not run or _same_file(run[0], hit)):
            run.append(hit)
            continue
        kept += run if len(run) <= 4 else [*run[:2], *run[-2:]]
        run = []
        if hit is not None:
            if split_end(hit.point)[0] == _FOLDED:
                run = [hit]
            else:
                kept.append(hit)
    return kept


def _same_file(one: Hit, other: Hit) -> bool:
    return (one.arguments, one.life, one.thread) == (other.arguments, other.life, other.thread)


def unpassed(patterns: Iterable[str], hits: Sequence[Hit]) -> list[str]:
    """Those of the patterns that are names, no globs, and that no hit has."""
    passed = {hit.point for hit in hits}
    names = dict.fromkeys(pattern for pattern in patterns if not is_glob(pattern))
    return [name for name in names if not any(matches(name, point) for point in passed)]


def difference(first: Iterable[Hit], second: Iterable[Hit]) -> str | None:
    """The first point that two controls did not pass equally often, in words; None if they agree."""
    one, other = Counter(hit.point for hit in first), Counter(hit.point for hit in second)
    for point in [*one, *other]:
        if one[point] != other[point]:
            return (
                f"{point!r} was passed {_times(one[point])} in the first run and {_times(other[point])} in the second"
            )
    return None


def _times(n: int) -> str:
    return "not at all" if n == 0 else "once" if n == 1 else f"{n} times"


def order_differs(first: Iterable[Hit], second: Iterable[Hit]) -> bool:
    """Whether two controls passed the same points in another order, as threads may."""
    return [str(hit) for hit in first] != [str(hit) for hit in second]


def sampled(windows: Sequence[Window], most: int | None, seed: int) -> list[Window]:
    """At most so many windows, drawn by the seed, in their order."""
    if most is None or len(windows) <= most:
        return list(windows)
    chosen = sorted(random.Random(seed).sample(range(len(windows)), most))
    return [windows[i] for i in chosen]
