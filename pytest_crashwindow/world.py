"""A world's control directory: everything that is written down about one execution of a test body."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import originals
from .arming import Faults
from .blocking import note
from .ledger import Ledger
from .living import LifeFiles
from .points import Armed
from .record import Fired, FiredRecords, Hit, read_trace
from .windows import Window, escape


@dataclass(frozen=True)
class Problem:
    """Why a world can't pass, whatever its test body says."""

    verdict: str
    """`"hung"`, `"unattributed death"`, `"not reached"`, `"error"`"""
    text: str


@dataclass
class World:
    """One execution of the test body. Read by its report, and by the sweep to find windows."""

    directory: Path
    faults: Faults
    window: Window | None = None
    armed: list[Armed] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lives, self._trace = self.directory / "lives", self.directory / "trace"
        self._fired = FiredRecords(self.directory / "fired")
        self._events, self._told = Ledger(self.directory / "events"), Ledger(self.directory / "told")

    def make(self) -> None:
        """Create what lives write to."""
        for directory in (self.directory, self.directory / "fired", self.directory / "lives"):
            with contextlib.suppress(FileExistsError):
                originals.mkdir(directory)
        self.tell("world", "", window=str(self.window) if self.window else None)

    def arm(self, faults: Collection[Armed]) -> None:
        """Have faults wait; one of the same number, which waited in a life that is over, does no more."""
        numbers = {one.index for one in faults}
        self.armed = [*(one for one in self.armed if one.index not in numbers), *faults]

    def files_of(self, life: str) -> LifeFiles:
        """Where a life writes its output and result."""
        return LifeFiles(f"{self._lives}/{escape(life)}")

    def hits(self) -> list[Hit]:
        """All hits of all lives, in order."""
        return read_trace(self._trace)

    def hits_in_body(self) -> list[Hit]:
        """Those until the test body ended: what comes later nobody looks at."""
        end = self._body_end()
        return [hit for hit in self.hits() if hit.at <= end]

    def hits_of(self, life: str) -> list[str]:
        """The hits of one life, in order, as `POINT+N`."""
        return [str(hit) for hit in self.hits() if hit.life == life]

    def fired(self) -> list[Fired]:
        """The records of faults, in order."""
        return self._fired.read()

    def is_deadly(self, fired: Fired) -> bool:
        """Whether this fault ends its process."""
        return fired.fault in self.faults and self.faults[fired.fault].deadly

    def ends_there(self, fired: Fired) -> bool:
        """Whether the process or the call ends by this fault, so that no other fires at the same hit."""
        return self.is_deadly(fired) or (fired.fault in self.faults and self.faults[fired.fault].may_repeat)

    def unfired(self) -> list[Armed]:
        """What was armed and never fired while the test body ran."""
        if not self.armed:
            return []
        end = self._body_end()
        done = {fired.index for fired in self.fired() if fired.at <= end}
        return [armed for armed in self.armed if armed.index not in done]

    def fired_late(self) -> list[Armed]:
        """Those of them that fired when it was over."""
        fired = {fired.index for fired in self.fired()}
        return [armed for armed in self.unfired() if armed.index in fired]

    def end_body(self) -> None:
        """The test body is over: what fires from now on can't show whether anything holds."""
        originals.write_file(self.directory / "body_ended", str(originals.monotonic_ns()).encode())

    def _body_end(self) -> float:
        try:
            return int(originals.read_file(self.directory / "body_ended"))
        except FileNotFoundError:
            return float("inf")

    def tell(self, event: str, life: str, **more: Any) -> None:
        """Put something into the timeline."""
        self._events.append({"event": event, "life": life, "at": originals.monotonic_ns(), **more})

    def events(self) -> list[Mapping[str, Any]]:
        """What was told, in order."""
        return self._events.entries()

    def complaints(self) -> list[str]:
        """Why lives couldn't put points in place."""
        return list(dict.fromkeys(entry["complaint"] for entry in self._told_by_lives() if "complaint" in entry))

    def tell_rebound(self, call: str, names: int) -> None:
        """From the test body's process, as lives do: under how many names a call was replaced."""
        self._told.append({"rebound": call, "names": names})

    def rebound(self) -> dict[str, int]:
        """Calls that were replaced under each of their names, and how many names those are."""
        return {entry["rebound"]: entry["names"] for entry in self._told_by_lives() if "rebound" in entry}

    def tell_unfinished(self, life: str) -> None:
        """The test body ended while a life was still running."""
        self._told.append({"unfinished": life})

    def unfinished(self) -> list[str]:
        """Lives that were still running when the test body ended."""
        return [entry["unfinished"] for entry in self._told_by_lives() if "unfinished" in entry]

    def _told_by_lives(self) -> list[Mapping[str, Any]]:
        return self._told.entries()

    def blame(self, verdict: str, text: str) -> None:
        """This world can't pass any more."""
        self.problems.append(Problem(verdict, text))
        self.tell("problem", "", verdict=verdict, text=text)

    def waited_in_vain(self, who: str) -> None:
        """A life (or the test body, "") gave up waiting: write down which paused life stood in its way."""
        note(self, who)

    def limit(self, seconds: float | None) -> None:
        """From inside: end the test body after so many seconds from now, or, with None, never."""
        text = "" if seconds is None else f"{originals.monotonic()} {seconds}"
        originals.write_file(self.directory / "limit", text.encode())

    def limited(self, begun: float, seconds: float | None) -> tuple[float, float | None]:
        """What `limit` said: since when, on the monotonic clock, and for how many seconds. Else as given."""
        try:
            told = originals.read_file(self.directory / "limit").split()
        except FileNotFoundError:
            return begun, seconds
        return (float(told[0]), float(told[1])) if told else (begun, None)

    def end_of(self, life: str) -> str | None:
        """The outcome of a life as it was told, be it by another process; None before its end."""
        ends = (e["outcome"] for e in self.events() if e["event"] == "ended" and e["life"] == life)
        return next(ends, None)

    def paused(self) -> set[str]:
        """Names of the lives that are paused, as far as was told."""
        stopped = set[str]()
        for event in self.events():
            if event["event"] == "paused":
                stopped.add(event["life"])
            elif event["event"] in ("resumed", "ended"):
                stopped.discard(event["life"])
        return stopped

    def running(self) -> dict[str, int]:
        """Lives that were started and haven't ended, as far as was told: name -> pid."""
        alive: dict[str, int] = {}
        for event in self.events():
            if event["event"] == "started":
                alive[event["life"]] = event["pid"]
            elif event["event"] == "ended":
                alive.pop(event["life"], None)
        return alive


def open_sqlite_files(connected: Container[str] = ()) -> list[str]:
    """Paths of SQLite databases that this process has open, by their descriptors.

    A database that is still empty has no header; it is one if somebody has connected to that path.

    The header is read by `pread` on the descriptor itself: to open and close the file anew would drop
    the locks that this process holds on it.
    """
    found = set()
    for name in originals.listdir("/dev/fd"):
        with contextlib.suppress(OSError):
            header = originals.pread(int(name), 16, 0)
            if header == b"SQLite format 3\0" or (not header and _path_of(int(name)) in connected):
                found.add(_path_of(int(name)))
    return sorted(found)


def _path_of(fd: int) -> str:
    try:
        return originals.readlink(f"/proc/self/fd/{fd}").removesuffix(" (deleted)")
    except OSError:
        return f"descriptor {fd}"
