"""What a life writes outside itself, so that it survives the life: its hits and its faults.

One world has one trace, to which every process of every life appends: `os.write` on an `O_APPEND`
descriptor puts a line at the end without mixing it with others, so the order of lines is the order of
passing and counting lines gives every hit its ordinal, without a lock between processes. The kernel may
cut a write short where a page ends if the process is killed meanwhile: a line therefore begins with the
newline, so that half a line spoils none but itself, and ends with a tab, by which it is known to be whole.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import originals
from .windows import unescape

_SIMPLE = frozenset({str, int, float, bool, type(None), bytes})
_HIGH = 200  # above the descriptors that programs in tests have
_LONGEST = 200  # characters of an argument list that a trace keeps


def summary(arguments: Iterable[object]) -> str:
    """Arguments as text for people; runs no user code, so an odd `__repr__` can't disturb a life."""
    shown = ""
    for argument in arguments:  # a loop, not a comprehension: this is on the path of every hit
        one = repr(argument) if type(argument) in _SIMPLE else _shown(argument)
        shown = f"{shown}, {one}" if shown else one
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."


def _shown(argument: object) -> str:
    if isinstance(argument, os.PathLike):
        with contextlib.suppress(Exception):
            return repr(os.fspath(argument))
    return f"<{type(argument).__name__}>"


def out_of_the_way(fd: int) -> int:
    """The same file under a high number: code that closes all descriptors gets low ones for its own files."""
    try:
        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except OSError:  # the limit is lower
        return fd
    originals.close(fd)
    return high


def file_of(fd: int) -> tuple[int, int] | None:
    """Which file a descriptor leads to; None for none."""
    try:
        status = originals.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino


@dataclass(frozen=True)
class Hit:
    """One passing of a point, as the trace tells it."""

    point: str
    ordinal: int
    """the how-many-eth passing of this point in the world, from 1"""
    arguments: str
    life: str
    pid: int
    thread: int
    at: int
    """nanoseconds of the system's monotonic clock"""

    def __str__(self) -> str:
        return f"{self.point}+{self.ordinal}"


@dataclass(frozen=True)
class Fired:
    """A fault's record, written before the fault acts."""

    index: int
    """which of the world's armed faults"""
    fault: str
    point: str
    ordinal: int
    arguments: str
    life: str
    pid: int
    thread: int
    at: int
    where: tuple[tuple[str, int, str], ...]
    """the frames of user code, innermost first: file, line, function"""


class Trace:
    """The writing end of a world's trace, one for each process.

    A fork shares the file's offset with its parent, which would spoil `append_counted`, so a forked
    child calls `reopen` first.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self.reopen()

    def reopen(self) -> None:
        self._open()
        self._lock = threading.Lock()  # a lock held by another thread at the fork stays held for ever
        self._counts: dict[bytes, tuple[int, int]] = {}

    def _open(self) -> None:
        fd = originals.open_fd(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.descriptor = out_of_the_way(fd)

    def append(self, line: str) -> None:
        self._write(line.encode("utf-8", "backslashreplace"))

    def _write(self, data: bytes) -> None:
        try:
            originals.write(self.descriptor, data)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            self._open()  # daemons close whatever is open
            originals.write(self.descriptor, data)

    def append_counted(self, line: str, columns: Iterable[tuple[int, str]]) -> list[int]:
        """Append, and tell how many lines so far, this one included, have each (column, text)."""
        data = line.encode("utf-8", "backslashreplace")
        with self._lock:
            self._write(data)
            end = originals.lseek(self.descriptor, 0, os.SEEK_CUR)
            return [self._count(end, column, text) for column, text in columns]

    def _count(self, end: int, column: int, text: str) -> int:
        wanted = text.encode("utf-8", "backslashreplace")
        key = b"%d\t%s" % (column, wanted)
        start, count = self._counts.get(key, (0, 0))
        for line in originals.pread(self.descriptor, end - start, start).splitlines():
            fields = line.split(b"\t")
            count += len(fields) == _FIELDS and not fields[-1] and wanted in fields[column].split(b",")
        self._counts[key] = (end, count)
        return count


# The columns of a line.
AT, LIFE, PID, THREAD, POINT, ARMED, ARGUMENTS = range(7)
_FIELDS = 8  # with the empty one after the last tab


def line(at: int, who: str, point: str, armed: str, arguments: str) -> str:
    """A line of the trace. `who` is life, pid and thread with tabs between; `armed` are the indexes
    of the faults that match, with commas between. Names are escaped as in ids."""
    return f"\n{at}\t{who}\t{point}\t{armed}\t{arguments}\t"


def read_trace(path: Path) -> list[Hit]:
    """All hits of a world in the order passed. Lines cut short by a death are left out."""
    try:
        data = originals.read_file(path)
    except FileNotFoundError:
        return []
    hits, seen = [], dict[str, int]()
    for raw in data.decode("utf-8", "replace").split("\n"):
        fields = raw.split("\t")
        if len(fields) != _FIELDS or fields[-1]:
            continue
        point = unescape(fields[POINT])
        seen[point] = seen.get(point, 0) + 1
        hits.append(
            Hit(
                point=point,
                ordinal=seen[point],
                arguments=fields[ARGUMENTS],
                life=unescape(fields[LIFE]),
                pid=int(fields[PID]),
                thread=int(fields[THREAD]),
                at=int(fields[AT]),
            )
        )
    return hits


class FiredRecords:
    """The directory with the records of fired faults; creating the file is the claim to fire."""

    def __init__(self, directory: str | Path) -> None:
        self._directory = os.fspath(directory)

    def claim(self, name: str, fired: Fired) -> bool:
        """Write the record; False if another process or an earlier life was first."""
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            fd = originals.open_fd(f"{self._directory}/{name}", flags, 0o600)
        except FileExistsError:
            return False
        originals.write(fd, originals.to_json(fired.__dict__).encode())
        originals.close(fd)
        return True

    def has_fired(self, index: int) -> bool:
        """Whether this armed fault fired at least once (records of one are `INDEX` or `INDEX.N`)."""
        return any(name.partition(".")[0] == str(index) for name in originals.listdir(self._directory))

    def read(self) -> list[Fired]:
        """All records in the order of firing; one cut short by a death counts as not written."""
        return sorted(self._read(), key=lambda fired: fired.at)

    def _read(self) -> Iterator[Fired]:
        try:
            names = originals.listdir(self._directory)
        except FileNotFoundError:  # of a world that could not begin
            return
        for name in names:
            with contextlib.suppress(ValueError, TypeError):
                fields: dict[str, Any] = originals.from_json(originals.read_file(f"{self._directory}/{name}"))
                fields["where"] = tuple((file, line, name) for file, line, name in fields["where"])
                yield Fired(**fields)
