"""How the windows of a sweep are shared: by one process alone, or by the workers of xdist.

Workers meet in a directory that the controller hands out. A window belongs to whoever creates its claim
file; its result is a file beside it. The worker with the test itself (shard 0) waits for all results.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from . import originals
from .windows import parse

Record = dict[str, Any]
"""what is kept of a window that was run: id, verdict, outcome, seconds"""


@dataclass(frozen=True)
class Judgement:
    """What came out of comparing two controls."""

    verdict: str = "passed"
    text: str = ""
    """why there can be no sweep"""
    notes: tuple[str, ...] = ()


class Sharing(Protocol):
    """Who runs which window of a sweep."""

    def claim(self, window: str) -> bool:
        """Whether this process is to run it."""

    def done(self, window: str, record: Record) -> None:
        """It was run."""

    def judgement(self) -> Judgement | None:
        """Whether the control is good for a sweep, if somebody has found that out."""

    def judge(self, judgement: Judgement) -> None:
        """Somebody has."""

    def no_more(self) -> None:
        """This process runs no more windows, though some behind those that it ran are left."""

    def stopped(self) -> bool:
        """Whether the whole run is to stop."""

    def results(self) -> dict[str, Record]:
        """The records of all windows of the sweep, by whoever; waits for those under way."""


class Alone:
    """One process runs everything."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def claim(self, window: str) -> bool:
        return True

    def done(self, window: str, record: Record) -> None:
        self._records[window] = record

    def judgement(self) -> Judgement | None:
        return None

    def judge(self, judgement: Judgement) -> None:
        pass

    def no_more(self) -> None:
        pass

    def stopped(self) -> bool:
        return False

    def results(self) -> dict[str, Record]:
        return self._records


STOP = "stop"
_LOOK = 0.02  # seconds between looks for a result of another worker


class Shared:
    """Several workers, each with a shard of the same sweep."""

    def __init__(self, directory: Path, sweep: str) -> None:
        self._run = directory
        self._directory = directory / _digest(sweep)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._gave_up = False

    def claim(self, window: str) -> bool:
        owner = json.dumps({"window": window, "pid": os.getpid()})
        unfinished = self._directory / f"{_digest(window)}.{os.getpid()}"
        unfinished.write_text(owner)
        try:
            os.link(unfinished, self._claim_of(window))
        except FileExistsError:
            return False
        finally:
            unfinished.unlink()
        return True

    def done(self, window: str, record: Record) -> None:
        unfinished = self._directory / f"{_digest(window)}.part"
        unfinished.write_text(json.dumps(record))
        unfinished.replace(self._result_of(window))

    def judgement(self) -> Judgement | None:
        path = self._directory / "judgement"
        return Judgement(**json.loads(path.read_text())) if path.exists() else None

    def judge(self, judgement: Judgement) -> None:
        unfinished = self._directory / f"judgement.{os.getpid()}"
        unfinished.write_text(json.dumps(asdict(judgement)))
        unfinished.replace(self._directory / "judgement")

    def no_more(self) -> None:
        self._gave_up = True

    def stopped(self) -> bool:
        return (self._run / STOP).exists()

    def results(self) -> dict[str, Record]:
        return dict(self._results())

    def _results(self) -> Iterator[tuple[str, Record]]:
        seen: set[Path] = set()
        while fresh := [path for path in sorted(self._directory.glob("*.claim")) if path not in seen]:
            for path in fresh:
                seen.add(path)
                owner = json.loads(path.read_text())
                record = self._result(owner)
                yield owner["window"], record
                for window in record.get("behind", ()):
                    if not self._is_claimed(window, by=owner["pid"]):
                        yield window, _lost(window)

    def _is_claimed(self, window: str, by: int) -> bool:
        """Wait until the windows behind one are claimed, which whoever ran that one does next.

        False if that worker died. Where this one gave up, or the whole run stops, none is to come.
        """
        while not (self._claim_of(window).exists() or self._gave_up or self.stopped()):
            if not _alive(by):
                return self._claim_of(window).exists()
            originals.sleep(_LOOK)
        return True

    def _result(self, owner: dict[str, Any]) -> Record:
        path = self._result_of(owner["window"])
        while not path.exists():
            if not _alive(owner["pid"]) and not path.exists():
                return _lost(owner["window"])
            originals.sleep(_LOOK)
        record: Record = json.loads(path.read_text())
        return record

    # -- shards ------------------------------------------------------------------------------

    def finish(self, failed: bool) -> None:
        """Shard 0 has spoken: who comes later must not run or report anything as part of the sweep."""
        if failed:
            (self._directory / "failed").touch()
        (self._directory / "finished").touch()

    def finished_as_failed(self) -> bool:
        """Whether shard 0 has spoken, and people know already that something is wrong."""
        return self.finished() and (self._directory / "failed").exists()

    def finished(self) -> bool:
        return (self._directory / "finished").exists()

    def note(self, shard: int, text: str) -> None:
        """Something that shard 0 is to report."""
        unfinished = self._directory / f"{shard}.note.part"
        unfinished.write_text(text)
        unfinished.rename(self._directory / f"{shard}.note")

    def take_back(self, shard: int) -> bool:
        """Whether a note comes too late for shard 0. Exactly one of both has it: that one reports it."""
        if not (self._directory / "read").exists():
            return False
        try:
            (self._directory / f"{shard}.note").unlink()
        except FileNotFoundError:
            return False
        return True

    def notes(self) -> list[str]:
        """What shards have noted and nobody has read. Who notes something after this has to take it back."""
        (self._directory / "read").touch()
        texts = []
        for path in sorted(self._directory.glob("*.note")):
            with contextlib.suppress(FileNotFoundError):  # taken back
                texts.append(path.rename(path.with_suffix(".told")).read_text())
        return texts

    def _claim_of(self, window: str) -> Path:
        return self._directory / f"{_digest(window)}.claim"

    def _result_of(self, window: str) -> Path:
        return self._directory / f"{_digest(window)}.result"


def _lost(window: str) -> Record:
    """What is known of a window whose worker died."""
    parsed = parse(window)
    return {
        "window": window,
        "point": parsed.point if parsed else "",
        "fault": parsed.fault if parsed else "",
        "verdict": "error",
        "outcome": "failed",
        "reason": "",
        "seconds": 0.0,
        "text": "the worker that ran it died",
    }


def lost_windows(run: Path) -> list[str]:
    """The windows of a run that processes had claimed which died before they could give a result."""
    lost = []
    for claim in sorted(run.glob("*/*.claim")):
        owner = json.loads(claim.read_text())
        if not claim.with_suffix(".result").exists() and not _alive(owner["pid"]):
            lost.append(owner["window"])
    return lost


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _alive(pid: int) -> bool:
    """Whether a process runs; a killed one that nobody has reaped yet doesn't."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return True
