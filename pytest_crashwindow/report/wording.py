"""Messages of failures that are the plugin's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..points import Armed
from ..record import Hit

_MOST = 12


NO_LIFE = (
    "It started no life: run the code under test by crashwindow.run, start or supervise; only there do points count."
)


TOO_LATE = (
    "fired after the test body had ended, when nothing looks any more at what it leaves behind: "
    "wait for that life in the test."
)


def never_fired(armed: Sequence[Armed], hits: Sequence[Hit], any_life: bool = True, late: Sequence[Armed] = ()) -> str:
    """Armed faults whose hit didn't come, or came `late`, when the test body was over."""
    if not any_life:
        return "\n".join([*(f"{_label(one)} never fired." for one in armed), NO_LIFE])
    lines = [f"{_label(one)} {TOO_LATE if one in late else f'never fired: {_why(one, hits)}'}" for one in armed]
    return "\n".join([*lines, passed_points(hits)])


def unknown_point(armed: Armed, near: Sequence[str], hits: Sequence[Hit]) -> str:
    """A name that no code of the project has."""
    return f"{_label(armed)}: unknown point {armed.pattern!r}; {did_you_mean(near)}\n{passed_points(hits)}"


def unknown_also_at(armed: Armed, name: str, near: Sequence[str], hits: Sequence[Hit]) -> str:
    """The same for a point at which a fault holds other threads."""
    return f"{_label(armed)}: hold: unknown point {name!r}; {did_you_mean(near)}\n{passed_points(hits)}"


def did_you_mean(near: Sequence[str]) -> str:
    """Names that somebody may have meant."""
    return f"did you mean {' or '.join(repr(name) for name in near)}?" if near else "no name of the project is near."


def passed_points(hits: Iterable[Hit]) -> str:
    """What the lives did pass."""
    counts: dict[str, int] = {}
    for hit in hits:
        counts[hit.point] = counts.get(hit.point, 0) + 1
    if not counts:
        return "The lives of this test passed no point at all."
    names = [f"  {point}" + (f" ({n} times)" if n > 1 else "") for point, n in counts.items()]
    more = [f"  ... and {len(names) - _MOST} more"] if len(names) > _MOST else []
    return "\n".join(["The lives of this test passed:", *names[:_MOST], *more])


def counted(n: int, noun: str, many: str | None = None) -> str:
    """`1 window`, `2 windows`."""
    return f"{n} {noun if n == 1 else many or noun + 's'}"


def _label(armed: Armed) -> str:
    point = armed.pattern + (f"+{armed.ordinal}" if armed.ordinal else "")
    nth = f", nth={armed.nth}" if armed.nth not in (1, None) and not armed.ordinal else ""
    match = f", match={armed.match!r}" if armed.match else ""
    life = f" for life {armed.life!r}" if armed.life else ""
    return f"{armed.fault.name}_at({point!r}{nth}{match}){life}"


def _why(armed: Armed, hits: Sequence[Hit]) -> str:
    count = sum(1 for hit in hits if armed.waits_at(hit.point) and armed.life in (None, hit.life))
    if not count:
        return "no life passed the point."
    if armed.fault.only_calls:
        return f"{armed.fault.name} acts on a call, and no attached call was passed; name it as pkg.module:function."
    times = "once" if count == 1 else f"{count} times"
    return f"the point was passed {times}" + (", never with such an argument or often enough." if armed.match else ".")
