"""From an item's markers and the run's options to a plan. Bad input ends here, with one clear message."""

from __future__ import annotations

import difflib
import re

import pytest

from .arming import SUFFIX, Faults, armed_by, check_calls, named_calls, names_of
from .errors import BadOption
from .fixture import Plan
from .points import Armed
from .probes.base import Probe
from .settings import Settings
from .sweep import MARKER, Defaults, SweepPlan, plan_from

CALLS = "crashwindow_calls"


def plan_of(item: pytest.Item, settings: Settings, faults: Faults, probes: list[Probe]) -> Plan:
    """What one test asks for. Raises BadOption or NotAttachable."""
    refuse_misspelt(item, faults)
    armed = [] if settings.off else markers_armed(item, faults)
    sweep = sweep_of(item, settings, faults)
    chosen = chosen_probes(settings, probes)
    names = {call for probe in probes for call in probe.calls}
    patterns = [*names_of(armed), *(sweep.patterns if sweep else ()), *settings.points]
    calls = [
        *settings.calls,
        *marker_calls(item),
        *(sweep.calls if sweep else ()),
        *named_calls(patterns, names),
    ]
    check_calls(calls, armed)
    return Plan(
        faults=faults,
        probes=chosen,
        calls=list(dict.fromkeys(calls)),
        armed=armed,
        patterns=settings.points,
        death=settings.death,
        life_timeout=settings.life_timeout,
        sweep=sweep,
    )


def refuse_misspelt(item: pytest.Item, faults: Faults) -> None:
    """Raise BadOption for a marker that nobody registered and that looks like one of ours: it would do nothing."""
    registered = {re.split(r"[(:]", line, maxsplit=1)[0].strip() for line in item.config.getini("markers")}
    ours = [MARKER, CALLS, *(f"{name}{SUFFIX}" for name in faults.names)]
    for mark in item.iter_markers():
        near = () if mark.name in registered else difflib.get_close_matches(mark.name, ours, 1, 0.85)
        if near:
            raise BadOption(f"there is no marker {mark.name!r}; did you mean {near[0]!r}?")


def sweep_of(item: pytest.Item, settings: Settings, faults: Faults) -> SweepPlan | None:
    """What the marker `crash_windows` asks for; None without one."""
    marks = list(item.iter_markers_with_node(MARKER))
    if not marks:
        return None
    node, mark = marks[0]
    if len(marks) > 1 and marks[1][0] is node:
        raise BadOption(f"{MARKER} is given twice: write it as one, {MARKER}('shop.*', pause='shop.*')")
    return plan_from(mark.args, mark.kwargs, faults, Defaults(settings.points, settings.depth, settings.max_windows))


def markers_armed(item: pytest.Item, faults: Faults) -> list[Armed]:
    """What the markers `crash_at`, `pause_at`, ... arm; the outermost (of module, class) first."""
    armed: list[Armed] = []
    for mark in reversed(list(item.iter_markers())):
        fault = faults.by_marker(mark.name)
        if fault is not None:
            armed.append(armed_by(fault, mark.args, mark.kwargs, len(armed)))
    return armed


def marker_calls(item: pytest.Item) -> list[str]:
    """Calls of the marker `crashwindow_calls`."""
    calls = [call for mark in item.iter_markers(CALLS) for call in mark.args]
    for call in calls:
        if not isinstance(call, str):
            raise BadOption(f"{CALLS}: a call is text such as 'shop.mail:Mailer.send', not {call!r}")
    return calls


def chosen_probes(settings: Settings, probes: list[Probe]) -> list[Probe]:
    """The probes that `crashwindow_probes` names, or all."""
    if settings.probes is None:
        return probes
    return [probe for probe in probes if probe.name in settings.probes]
