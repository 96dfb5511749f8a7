"""What kind of window a failure looks like: a hint, given only where what was recorded supports it.

Each kind has a page that shows how such a window is usually closed. A wrong hint costs more than none, so
whatever an ordinary correct program could have left behind as well gives none.
"""

from __future__ import annotations

import ast
import os
import re
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..points import split_end
from ..windows import split_hit
from .timeline import Entry

_CHECKOUT = Path(__file__).parent.parent.parent
_COMMITS = ("sqlite3.commit:exit", "os.replace:exit", "os.rename:exit")
_MOVES = ("os.replace", "os.rename", "os.link", "os.remove")
_FILE_CALLS = ("open", "file.write", "os.truncate")
_CHANGES = ("file.write:exit", "os.mkdir:exit", "os.symlink:exit", "os.link:exit", "os.remove:exit", "os.truncate:exit")
_MARKS = ("file.write:exit", "os.mkdir:exit", "os.symlink:exit")
_NOT_CUT_SHORT = ("pause", "delay", "duplicate")
"""faults after which a life goes on as before"""
_ONLY_ASKS = ("('GET'", "('HEAD'", "('OPTIONS'", "('CONNECT'")
"""requests that change nothing, so that repeating them harms nobody"""
_FIRST_TEXT = re.compile(r"\(('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_AGAIN_BY_NUMBER = re.compile(r"-\d+$")


@dataclass(frozen=True)
class Kind:
    """A kind of window."""

    text: str
    page: str
    """below docs/"""

    @property
    def file(self) -> str:
        """The page from the project's root on."""
        return f"docs/{self.page}.md"

    def __str__(self) -> str:
        return f"hint: {self.text} ({self._where})"

    @property
    def _where(self) -> str:
        """The page as it can be opened from here: a wheel brings the pages along."""
        installed = Path(sysconfig.get_path("data"), "share/doc/pytest-crashwindow", f"{self.page}.md")
        if (_CHECKOUT / self.file).is_file() or not installed.is_file():
            return self.file
        below = os.path.relpath(installed)
        return str(installed) if below.startswith(os.pardir) else below

    def as_data(self) -> dict[str, str]:
        """For report files."""
        return {"text": self.text, "page": self.file}


HALF_WRITTEN = Kind("the file was being written in place when the process died", "how-to/write-in-place")
EFFECT_UNRECORDED = Kind(
    "the effect had happened and nothing recorded it yet, so it was done again", "how-to/effect-and-commit"
)
EFFECT_MISSING = Kind("it was recorded, and the effect that was to follow never happened", "how-to/effect-and-commit")
DONE_AGAIN = Kind(
    "the effect had happened and was followed by a commit, and a later life did it again all the same",
    "how-to/consumer-without-inbox",
)
MARKED_BEFORE = Kind(
    "a file was changed before the work that follows, and the restart took the work for done", "how-to/mark-before-work"
)
TWO_TRANSACTIONS = Kind("the process died between two commits that belong together", "how-to/two-transactions")
LOST_ANSWER = Kind("a lost answer was taken for a failure, and the call was made again", "how-to/lost-answer")
DELIVERED_TWICE = Kind("the receiver did the work of one message twice", "how-to/consumer-without-inbox")
STALE_WORKER = Kind("a worker woke after another had taken over, and went on writing", "how-to/stale-worker")
IN_RECOVERY = Kind("the recovery itself was cut short, and can't be repeated", "how-to/crash-during-recovery")
NO_RESTART = Kind(
    "no life ran after the death; if a restart is to repair what it left, start the program with "
    "crashwindow.supervise instead of run",
    "reference/fixture",
)
IN_MEMORY = Kind(
    "the test body and each life are processes of their own: what a fixture's thread, a list or a Mock remembers in "
    "the memory of one isn't seen in another",
    "how-to/fakes-and-mocks",
)
"""of a control that failed"""
NO_RESTART_OF_WRITER = Kind(
    "no life ran after the death, and the file was being written in place; if a restart is to write it anew, start "
    "the program with crashwindow.supervise instead of run",
    "how-to/write-in-place",
)


@dataclass(frozen=True)
class Disk:
    """Sizes of files by path; None where there is none."""

    before: Callable[[str], int | None]
    """as set-up left it"""
    now: Callable[[str], int | None]
    """as the last world left it"""


NOTHING_KNOWN = Disk(before=lambda path: None, now=lambda path: None)


@dataclass(frozen=True)
class Control:
    """What happened without a fault."""

    told: tuple[Entry, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    """of the files that were written and are there at the end"""

    @classmethod
    def of(cls, told: Sequence[Entry], disk: Disk = NOTHING_KNOWN) -> Control:
        """From the control's timeline, and from the disk as it left it."""
        written = {path for entry in told if _call(entry) == "open" and (path := _path(entry))}
        sizes = {path: size for path in written if (size := disk.now(path)) is not None}
        return cls(tuple(told), tuple(sizes.items()))

    @property
    def happened(self) -> Counter[str]:
        """How often which effect took place."""
        return Counter(_point(entry) for entry in self.told if _is_effect(entry))

    @property
    def commits(self) -> int:
        return sum(map(_is_commit, self.told))

    def times(self, effect: Entry) -> int:
        """How often exactly this effect took place."""
        return sum(_same(entry, effect) for entry in self.told)

    def size(self, path: str) -> int:
        return dict(self.sizes).get(path, 0)


@dataclass(frozen=True)
class Story:
    """A world with one fault at `told[at]`."""

    told: Sequence[Entry]
    at: int
    control: Control | None = None
    disk: Disk = NOTHING_KNOWN

    @property
    def fault(self) -> Entry:
        return self.told[self.at]

    @property
    def before(self) -> Sequence[Entry]:
        return self.told[: self.at]

    @property
    def after(self) -> Sequence[Entry]:
        return self.told[self.at + 1 :]

    @property
    def mine(self) -> Sequence[Entry]:
        """What the life that met the fault had passed by then."""
        return [entry for entry in self.before if entry.life == self.fault.life]


def kind_of(
    told: Sequence[Entry],
    control: Control | None = None,
    disk: Disk = NOTHING_KNOWN,
    passes_without_last: bool = False,
) -> Kind | None:
    """The kind that the timeline of a failed window shows; None where it shows none clearly.

    `passes_without_last`: of a window of several faults, whether it was seen to pass without the last one.
    """
    faults = [i for i, entry in enumerate(told) if entry.kind == "fault"]
    if not faults:
        return None
    if len(faults) > 1:
        return IN_RECOVERY if passes_without_last and _cut_recovery_short(told, faults) else None
    story = Story(told, faults[0], control, disk)
    fault = story.fault.name.partition(" at ")[0]
    if fault == "crash":
        return _of_crash(story)
    if fault == "lost_ack":
        return LOST_ANSWER if _made_lost_call_again(story) else None
    if fault == "duplicate":
        return DELIVERED_TWICE if _did_too_often(story, story.told) else None
    if fault == "pause":
        return STALE_WORKER if _went_on_after_another(story) else None
    return None


def _cut_recovery_short(told: Sequence[Entry], faults: Sequence[int]) -> bool:
    first, last = told[faults[0]], told[faults[-1]]
    if last.name.partition(" at ")[0] in _NOT_CUT_SHORT or last.life == first.life:
        return False
    return any(entry.kind == "started" for entry in told[faults[-1] :])


# -- deaths ----------------------------------------------------------------------------------


def _of_crash(story: Story) -> Kind | None:
    restarted = [entry for entry in story.after if entry.kind == "started"]
    if not restarted:
        return _without_restart(story)
    again, missing = _repeated(story), _missing(story)
    if _left_file_cut(story, needs_old_content=bool(again)):
        return HALF_WRITTEN
    if again:
        return None if missing else _of_repeat(story, again)
    if _base(story.fault.life) not in map(_base, (entry.life for entry in restarted)):
        return None  # what ran afterwards was something else, that needn't do this one's work
    if _recovery_failed(story):
        return None  # so that whatever is missing may be missing because of that
    return _of_omission(story, missing)


def _without_restart(story: Story) -> Kind | None:
    if _left_file_cut(story, needs_old_content=True):
        return HALF_WRITTEN
    if not _nothing_else_lives(story):
        return None
    return NO_RESTART_OF_WRITER if _left_file_cut(story) else NO_RESTART


def _of_repeat(story: Story, again: Entry) -> Kind | None:
    """Something from before the death was done once more. Was it recorded?"""
    following = story.told[story.before.index(again) : story.at]
    commits = sum(_is_commit(entry) and entry.life == story.fault.life for entry in following)
    if not commits:
        return EFFECT_UNRECORDED
    # Where the control commits more before its next effect, one of those commits may be the record.
    whole = again.kind == "effect" and commits >= _commits_after(again, story.control)
    return DONE_AGAIN if whole else None


def _commits_after(effect: Entry, control: Control | None) -> int:
    """The most commits that the control makes between this effect and the next one."""
    most = count = 0
    inside = False
    for entry in control.told if control else ():
        if _is_effect(entry):
            inside, count = _same(entry, effect), 0
        count += inside and _is_commit(entry)
        most = max(most, count)
    return most


def _of_omission(story: Story, missing: bool) -> Kind | None:
    """Something that the control did was never done. Was it taken for done?"""
    control = story.control
    if control is None:
        return None
    if missing:
        return EFFECT_MISSING if _committed(story.mine) else MARKED_BEFORE if _marked(story) else None
    acts = any(_may_be_effect(entry) for entry in (*control.told, *story.told))
    if not acts and _committed(story.mine) and sum(map(_is_commit, story.told)) < control.commits:
        return TWO_TRANSACTIONS
    return None


def _nothing_else_lives(story: Story) -> bool:
    """Whether the life died of the fault, and no other went on, that may have been meant to take over."""
    life = story.fault.life
    died = any(e.kind == "ended" and e.life == life and e.name == "crashed" for e in story.after)
    return died and all(e.life in (life, "") for e in story.after)


def _recovery_failed(story: Story) -> bool:
    """Whether the lives after the death ended with an exception that the control hasn't."""
    ends = [entry.name for entry in story.after if entry.kind == "ended" and entry.name != "crashed"]
    expected = story.control is not None and any(e.kind == "ended" and e.name == "raised" for e in story.control.told)
    return bool(ends) and ends[-1] != "returned" and not expected


def _marked(story: Story) -> bool:
    """Whether the only thing that the restart can have gone by is a file that was changed before the work."""
    if any(_may_be_effect(entry) and entry.life for entry in story.mine):
        return False  # whoever was asked may remember it
    everything = [*(story.control.told if story.control else ()), *story.told]
    return any(
        _point(entry) in _MARKS and (path := _path(entry)) and not _is_moved(path, everything) for entry in story.mine
    )


def _left_file_cut(story: Story, needs_old_content: bool = False) -> bool:
    """Whether the fault struck while a file was written in place, and the file was left empty or too short.

    Of a file that is new this says little where the life had changed something else before: then it may be
    that which the restart goes by. Only a file that has lost its old content counts there.
    """
    point = split_hit(story.fault.name.partition(" at ")[2])[0]
    call, end = split_end(point)
    path = next((_path(entry) for entry in reversed(story.before) if _point(entry) == point), None)
    if path is None or call not in _FILE_CALLS or (end == "enter" and call != "file.write"):
        return False
    control = story.control or Control()
    if _is_moved(path, [*control.told, *story.told]) or _is_written(path, story.after):
        return False
    needs_old_content = needs_old_content or _changed_something_else(path, story.mine)
    left, old, whole = story.disk.now(path), story.disk.before(path) or 0, control.size(path)
    opened = _last_open(path, story.before)
    if left is None:
        return False
    if left == 0:
        return old > 0 or _is_written(path, story.before[:opened]) or (whole > 0 and not needs_old_content)
    if left < old and left < whole:
        return True
    begun = _is_written(path, story.before[opened:]) and _control_goes_on_writing(story, path)
    return begun and left < whole and not needs_old_content


def _changed_something_else(path: str, told: Iterable[Entry]) -> bool:
    return any(_is_commit(e) or (_point(e) in _CHANGES and not _is_of(e, path)) for e in told)


def _last_open(path: str, told: Sequence[Entry]) -> int:
    """Where a file was opened the last time."""
    return next((i for i in reversed(range(len(told))) if _call(told[i]) == "open" and _is_of(told[i], path)), 0)


def _control_goes_on_writing(story: Story, path: str) -> bool:
    """Whether the control's next point is one more write to the same file, as when a buffer is written in pieces."""
    told = [entry for entry in story.control.told if entry.kind == "point"] if story.control else []
    hit = story.fault.name.partition(" at ")[2]
    here = next((i for i, entry in enumerate(told) if entry.name == hit), len(told))
    if split_end(split_hit(hit)[0])[1] == "enter":
        here += 1
    following = told[here + 1 : here + 2]
    return any(_point(entry) == "file.write:enter" and _is_of(entry, path) for entry in following)


def _is_moved(path: str, told: Iterable[Entry]) -> bool:
    """Whether a file is moved to where it is wanted, or removed after use, rather than being read where it is."""
    return any(_call(entry) in _MOVES and _is_of(entry, path) for entry in told)


def _is_written(path: str, told: Iterable[Entry]) -> bool:
    return any(_point(entry) == "file.write:exit" and _is_of(entry, path) for entry in told)


# -- effects ---------------------------------------------------------------------------------


def _did_too_often(story: Story, among: Sequence[Entry]) -> Entry | None:
    """The last effect in `among` that is in the world more often than in the control."""
    return next((e for e in reversed(among) if _is_effect(e) and _is_too_often(e, story)), None)


def _repeated(story: Story) -> Entry | None:
    """The last effect from before the death that took place once more after it."""
    effect = _did_too_often(story, story.before)
    return effect if effect and any(_same(entry, effect) for entry in story.after) else None


def _is_too_often(effect: Entry, story: Story) -> bool:
    times = sum(_same(entry, effect) for entry in story.told)
    if story.control is not None:
        return times > story.control.times(effect)
    return effect.kind == "effect" and bool(effect.detail) and times > 1  # one without a key may be meant to recur


def _missing(story: Story) -> bool:
    """Whether some effect took place less often than in the control."""
    if story.control is None:
        return False
    here = Counter(_point(entry) for entry in story.told if _is_effect(entry))
    return any(here[name] < times for name, times in story.control.happened.items())


def _made_lost_call_again(story: Story) -> bool:
    """Whether what the call did whose answer was lost has been done once more since."""
    call = split_end(split_hit(story.fault.name.partition(" at ")[2])[0])[0]
    begun = [i for i, e in enumerate(story.before) if e.life == story.fault.life and _point(e) == f"{call}:enter"]
    done = [entry for entry in story.before[begun[-1] if begun else 0 :] if _is_effect(entry)][-1:]
    return any(_is_too_often(one, story) and any(_same(entry, one) for entry in story.after) for one in done)


def _went_on_after_another(story: Story) -> bool:
    """Whether the paused life, once awake, wrote to what another life had written to meanwhile."""
    life = story.fault.life
    woke = next((i for i, e in enumerate(story.told) if i > story.at and e.kind == "resumed" and e.life == life), None)
    if woke is None:
        return False
    slept = [entry for entry in story.told[story.at : woke] if entry.life != life]
    rest = story.told[woke:]
    ended = next((i for i, e in enumerate(rest) if e.kind in ("ended", "paused") and e.life == life), len(rest))
    awake = [entry for entry in rest[:ended] if entry.life in (life, "")]
    return bool({_target(e) for e in slept if _writes(e)} & {_target(e) for e in awake if _writes(e)})


def _target(entry: Entry) -> tuple[str, Any]:
    """What was written to: the effect by its name, a file or database by its path, a server by its address."""
    return (_call(entry), "") if entry.kind == "effect" else (_call(entry), str(entry.detail))


# -- entries ---------------------------------------------------------------------------------


def _point(entry: Entry) -> str:
    """The name of a point or effect."""
    return split_hit(entry.name)[0] if entry.kind == "point" else entry.name if entry.kind == "effect" else ""


def _call(entry: Entry) -> str:
    return split_end(_point(entry))[0] if entry.kind == "point" else _point(entry)


def _base(life: str) -> str:
    """The name of a life without the number that tells it from earlier ones of the same target."""
    return _AGAIN_BY_NUMBER.sub("", life)


def _is_commit(entry: Entry) -> bool:
    return entry.kind == "point" and _point(entry) in _COMMITS


def _committed(told: Iterable[Entry]) -> bool:
    return any(map(_is_commit, told))


def _is_effect(entry: Entry) -> bool:
    if entry.kind == "effect":
        return True
    if entry.kind != "point":
        return False
    asks = str(entry.detail).startswith(_ONLY_ASKS)
    return _point(entry) == "smtp.send:exit" or (_point(entry) == "http.request:exit" and not asks)


def _may_be_effect(entry: Entry) -> bool:
    """Also what changes something outside in some programs and nothing in others."""
    return _is_effect(entry) or _call(entry) in ("http.request", "smtp.send", "subprocess.Popen")


def _same(entry: Entry, effect: Entry) -> bool:
    """Whether an effect is the same again."""
    return _is_effect(entry) and (_point(entry), str(entry.detail)) == (_point(effect), str(effect.detail))


def _writes(entry: Entry) -> bool:
    return _is_commit(entry) or _is_effect(entry) or (entry.kind == "point" and _call(entry) in _FILE_CALLS)


def _path(entry: Entry) -> str | None:
    """The first path among the arguments of a point; None where it was too long to be kept."""
    found = _FIRST_TEXT.match(str(entry.detail)) if entry.kind == "point" else None
    return str(ast.literal_eval(found[1])) if found else None


def _is_of(entry: Entry, path: str) -> bool:
    """Whether this is the first path of a point, as far as its arguments were kept."""
    shown, told = f"({path!r}", str(entry.detail)
    kept = told.removesuffix("...)")
    return told.startswith(shown) or (kept != told and shown.startswith(kept))
