"""From what a marker, a keyword or a window says to faults that wait for their hit."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .calls import refusal
from .errors import BadOption, NotAttachable
from .faults import Fault
from .installing import check, kind_of
from .points import ENDS, Armed, is_glob, split_end
from .windows import Window, split_hit

SUFFIX = "_at"


class Faults:
    """The faults of a run by name: built-in ones and those that plugins registered."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self._by_name: dict[str, Fault] = {}
        for fault in faults:
            if fault.name in self._by_name:
                raise BadOption(f"two faults are called {fault.name!r}; a registered fault needs a name of its own")
            self._by_name[fault.name] = fault

    def __getitem__(self, name: str) -> Fault:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def names(self) -> list[str]:
        """In the order in which a sweep tries them at one point."""
        return list(self._by_name)

    def by_marker(self, marker: str) -> Fault | None:
        """The fault that a marker or keyword such as `crash_at` arms."""
        return self._by_name.get(marker.removesuffix(SUFFIX)) if marker.endswith(SUFFIX) else None


def armed_by(fault: Fault, args: tuple[Any, ...], kwargs: Mapping[str, Any], index: int) -> Armed:
    """What `@pytest.mark.FAULT_at(*args, **kwargs)` arms. Raises BadOption."""
    label = f"{fault.name}{SUFFIX}"
    names = ("point", *fault.required, "nth")
    if len(args) > len(names):
        raise BadOption(f"{label}: takes at most {len(names)} positional arguments ({', '.join(names)}), got {args!r}")
    given: dict[str, Any] = dict(zip(names, args, strict=False))
    twice = given.keys() & kwargs.keys()
    if twice:
        raise BadOption(f"{label}: {', '.join(sorted(twice))} is given twice")
    given.update(kwargs)
    if fault.only_calls and "call" in given:  # what the marker's point is
        given.setdefault("point", given.pop("call"))
    for name in ("point", *fault.required):
        if name not in given:
            raise BadOption(f"{label}: {name!r} is missing; it is used as {_usage(fault)}")
    point, nth, match = given.pop("point"), given.pop("nth", 1), given.pop("match", None)
    _check(label, fault, point, nth, match)
    name, ordinal = split_hit(point)
    if ordinal is not None and nth != 1:
        raise BadOption(f"{label}: {point!r} names the hit already, nth={nth} names another")
    return Armed(index, name, _configured(fault, label, given), nth, ordinal, match)


def _usage(fault: Fault) -> str:
    required = "".join(f", {name}" for name in fault.required)
    return f"{fault.name}{SUFFIX}(point{required}, nth=1)"


def _check(label: str, fault: Fault, point: object, nth: object, match: object) -> None:
    if not isinstance(point, str) or not point:
        raise BadOption(f"{label}: the point is a name such as 'shop.order.committed', not {point!r}")
    if nth is None and not fault.may_repeat:
        raise BadOption(f"{label}: nth=None (every hit) is for faults that leave the life running: error, lost_ack")
    if nth is not None and (isinstance(nth, bool) or not isinstance(nth, int) or nth < 1):
        raise BadOption(f"{label}: nth counts from 1, got {nth!r}")
    if match is not None and not isinstance(match, str):
        raise BadOption(f"{label}: match is a glob for an argument, such as 'order-7*', not {match!r}")
    check_end(fault, point, label)


def check_end(fault: Fault, point: str, label: str) -> None:
    """Refuse a fault at an end of a call where it has no meaning."""
    name, _ = split_hit(point)
    call, end = split_end(name)
    if end is None:
        return
    if fault.only_calls and end not in fault.ends:
        whole = f"{fault.name} acts on a call as a whole"
        raise BadOption(f"{label}: {whole}: name it as {call!r} or '{call}:{fault.ends[0]}'")
    if fault.name == "lost_ack" and end == "enter":
        raise BadOption(
            f"{label}: an answer can be lost after the call only: name it as {call!r} or '{call}:exit' "
            f"(the fault `error` loses the request)"
        )


def _configured(fault: Fault, label: str, parameters: dict[str, Any]) -> Fault:
    try:
        return fault.configured(**parameters)
    except TypeError:
        unknown = ", ".join(sorted(parameters.keys() - set(fault.required)))
        raise BadOption(f"{label}: unknown argument {unknown}; it is used as {_usage(fault)}") from None
    except BadOption as error:
        raise BadOption(f"{label}: {error}") from None


def names_of(armed: Iterable[Armed]) -> list[str]:
    """Every point, or glob, that these faults name."""
    return [name for one in armed for name in (one.pattern, *one.fault.also_at())]


def named_calls(patterns: Iterable[str], probed: set[str]) -> list[str]:
    """Calls that patterns spell out (`pkg.module:function`, with or without an end): they are attached."""
    calls = []
    for pattern in patterns:
        call, _ = split_end(pattern.removeprefix("!"))
        module, colon, name = call.partition(":")
        if colon and module and name and not is_glob(call) and call not in probed:
            calls.append(call)
    return calls


def check_calls(calls: Iterable[str], armed: Iterable[Armed]) -> None:
    """Raise NotAttachable for a call that can't be attached, or that can't take a fault named for it."""
    __tracebackhide__ = True
    try:
        check(calls)
    except NotAttachable as error:
        raise error.with_traceback(None) from None
    for one in armed:
        for call in calls:
            if one.pattern not in (call, *(f"{call}:{end}" for end in ENDS)):
                continue
            reason = refusal(call, kind_of(call) or "", one.fault.name)
            if reason:
                raise NotAttachable(f"{one.fault.name}{SUFFIX}: {reason}")


def armed_for_life(faults: Faults, keywords: dict[str, Any], index: int) -> list[Armed]:
    """Take keywords such as `pause_at="shop.job.computed"` out of those of a target; numbered from `index`.

    A value is a point, a tuple of what the marker takes, or a dict of the marker's keywords.
    """
    armed: list[Armed] = []
    for name in [n for n in keywords if faults.by_marker(n) is not None]:
        fault, value = faults.by_marker(name), keywords.pop(name)
        assert fault is not None
        if isinstance(value, Mapping):
            args, kwargs = tuple[Any, ...](), dict[str, Any](value)
        else:
            args, kwargs = (tuple(value) if isinstance(value, tuple | list) else (value,)), {}
        armed.append(armed_by(fault, args, kwargs, index + len(armed)))
    return armed


def refuse_misspelt(faults: Faults, keywords: Mapping[str, Any], target: Callable[..., Any]) -> None:
    """Raise BadOption for a keyword that looks like one for a fault, and that the target doesn't take.

    It would go to the target, where a test that doesn't look at the outcome would never hear of it.
    """
    __tracebackhide__ = True
    markers = [f"{name}{SUFFIX}" for name in faults.names]
    for name in keywords:
        if _takes(target, name):
            continue
        near = difflib.get_close_matches(name, markers, 1, 0.75 if name.endswith(SUFFIX) else 0.85)
        if near or not _takes(target, None):
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise BadOption(f"{name}: neither a fault nor an argument of the target{hint} Faults: {', '.join(markers)}")


def _takes(target: Callable[..., Any], name: str | None) -> bool:
    """Whether a callable has a parameter of this name; for None, whether it takes keywords of any name."""
    try:
        parameters = inspect.signature(target, follow_wrapped=False).parameters
    except (TypeError, ValueError):
        return True
    return name in parameters or (name is None and any(p.kind is p.VAR_KEYWORD for p in parameters.values()))


def armed_for_window(window: Window, fault_at: Mapping[tuple[str, str], Fault], first: int = 0) -> list[Armed]:
    """A window's steps, numbered from `first`, each of which waits until the one before it has fired."""
    armed: list[Armed] = []
    for index, step in enumerate(window.steps, first):
        fault = fault_at[step.fault, step.point]
        after = index - 1 if index > first else None
        armed.append(Armed(index, step.point, fault, ordinal=step.hit, after=after, exact=True))
    return armed
