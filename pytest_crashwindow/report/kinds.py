"""What kind of window a failure looks like: a hint, given only where the timeline supports it.

Each kind has a page that shows how such a window is usually closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..points import split_end
from ..windows import split_hit
from .timeline import Entry

_COMMITS = ("sqlite3.commit:exit", "os.replace:exit", "os.rename:exit")
_REQUESTS = ("http.request:exit", "smtp.send:exit", "subprocess.Popen:exit")
_FILE_CALLS = ("open", "file.write", "os.truncate")
_NOT_CUT_SHORT = ("pause", "delay", "duplicate")
"""faults after which a life goes on as before"""


@dataclass(frozen=True)
class Kind:
    """A kind of window."""

    text: str
    page: str
    """below docs/how-to/"""

    def __str__(self) -> str:
        return f"hint: {self.text} (docs/how-to/{self.page}.md)"


HALF_WRITTEN = Kind("the file was being written in place when the process died", "write-in-place")
EFFECT_UNRECORDED = Kind(
    "the effect had happened and nothing recorded it yet, so it was done again", "effect-and-commit"
)
EFFECT_MISSING = Kind("it was recorded, and the effect that was to follow never happened", "effect-and-commit")
TWO_TRANSACTIONS = Kind("the process died between two commits that belong together", "two-transactions")
LOST_ANSWER = Kind("a lost answer was taken for a failure, and the call was made again", "lost-answer")
DELIVERED_TWICE = Kind("the receiver did the work of one message twice", "consumer-without-inbox")
STALE_WORKER = Kind("a worker woke after another had taken over, and went on writing", "stale-worker")
IN_RECOVERY = Kind("the recovery itself was cut short, and can't be repeated", "crash-during-recovery")


@dataclass(frozen=True)
class Control:
    """How much happened without a fault."""

    effects: int
    commits: int

    @classmethod
    def of(cls, told: Sequence[Entry]) -> Control:
        """Counted from the control's timeline."""
        return cls(sum(map(_is_effect, told)), sum(map(_is_commit, told)))


def kind_of(told: Sequence[Entry], control: Control | None = None) -> Kind | None:
    """The kind that the timeline of a failed window shows; None where it shows none clearly."""
    faults = [i for i, entry in enumerate(told) if entry.kind == "fault"]
    if not faults:
        return None
    if len(faults) > 1:
        last = told[faults[-1]]
        cut_short = last.name.partition(" at ")[0] not in _NOT_CUT_SHORT
        return IN_RECOVERY if cut_short and last.life != told[faults[0]].life else None
    at = faults[0]
    fault, _, point = told[at].name.partition(" at ")
    if fault == "crash":
        return _of_crash(told, at, split_hit(point)[0], control)
    if fault == "lost_ack":
        return LOST_ANSWER if _repeated(told, at) else None
    if fault == "duplicate":
        return DELIVERED_TWICE if _same_effect_twice(told) else None
    if fault == "pause":
        return STALE_WORKER if _went_on_after_another(told, at) else None
    return None


def _of_crash(told: Sequence[Entry], at: int, point: str, control: Control | None) -> Kind | None:
    call, end = split_end(point)
    if call in _FILE_CALLS and (call, end) != ("open", "enter"):
        return HALF_WRITTEN
    committed = max((i for i, e in enumerate(told[:at]) if _is_commit(e) and e.life == told[at].life), default=-1)
    acted = max((i for i, e in enumerate(told[:at]) if _is_effect(e)), default=-1)
    if acted > committed:
        return EFFECT_UNRECORDED if _repeated(told, acted + 1, since=acted) else None
    if committed < 0 or control is None:
        return None
    if Control.of(told).effects < control.effects:
        return EFFECT_MISSING
    if control.effects == 0 and Control.of(told).commits < control.commits:
        return TWO_TRANSACTIONS
    return None


def _is_commit(entry: Entry) -> bool:
    return entry.kind == "point" and split_hit(entry.name)[0] in _COMMITS


def _is_effect(entry: Entry) -> bool:
    return entry.kind == "effect" or (entry.kind == "point" and split_hit(entry.name)[0] in _REQUESTS)


def _what(entry: Entry) -> tuple[str, object]:
    """An effect as it can be compared with another."""
    return split_hit(entry.name)[0], str(entry.detail)


def _repeated(told: Sequence[Entry], at: int, since: int = 0) -> bool:
    """Whether an effect from before comes again after `at`."""
    before = {_what(entry) for entry in told[since:at] if _is_effect(entry)}
    return any(_is_effect(entry) and _what(entry) in before for entry in told[at:])


def _same_effect_twice(told: Sequence[Entry]) -> bool:
    return any(n > 1 for n in Counter(_what(entry) for entry in told if _is_effect(entry)).values())


def _went_on_after_another(told: Sequence[Entry], at: int) -> bool:
    life = told[at].life
    resumed = next((i for i, e in enumerate(told) if i > at and e.kind == "resumed" and e.life == life), None)
    if resumed is None:
        return False
    others = any(_writes(entry) and entry.life != life for entry in told[at:resumed])
    return others and any(_writes(entry) for entry in told[resumed:])


def _writes(entry: Entry) -> bool:
    if _is_commit(entry) or _is_effect(entry):
        return True
    return entry.kind == "point" and split_end(split_hit(entry.name)[0])[0] in _FILE_CALLS
