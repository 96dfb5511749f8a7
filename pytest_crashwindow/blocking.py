"""Who stands in whose way: a paused life that holds a lock for which another one waits in vain."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .world import World

_SQLITE_LOCKS = 0x40000000  # where in its file SQLite has its locks (pending, reserved, shared)
_LOCKED = ("database is locked", "database table is locked", "BusyError", "BlockingIOError")


@dataclass(frozen=True)
class Held:
    """A file on which a process has a lock that keeps others from writing."""

    path: str
    """of a database in WAL mode the database itself"""
    in_transaction: bool
    """whether it is SQLite's lock of a write transaction"""

    def __str__(self) -> str:
        return f"{'the write lock of' if self.in_transaction else 'a lock on'} {self.path}"


def sounds_locked(text: str) -> bool:
    """Whether an error's text says that somebody else holds a lock."""
    return any(word in text for word in _LOCKED)


def note(world: World, who: str) -> None:
    """Write down which locks paused lives hold at this moment, at which `who` waits in vain."""
    running = world.running()
    for life in sorted(world.paused() - {who}):
        for held in held_by(running.get(life, 0)):
            at = next((f"{f.point}+{f.ordinal}" for f in reversed(world.fired()) if f.life == life), "a point")
            if not who and any((e["blocked_by"], e["at_point"]) == (life, at) for e in told(world)):
                continue  # the test body has the error from the life that waited
            what = f"waits for life {life!r}, which is paused at {at} and holds {held}"
            world.tell("problem", who, verdict=what, blocked_by=life, holds=str(held), at_point=at)


def told(world: World) -> Iterator[Mapping[str, Any]]:
    """What `note` wrote down."""
    return (event for event in world.events() if "blocked_by" in event)


def held_by(life: int) -> list[Held]:
    """The locks of a life's processes. Linux tells them; elsewhere nothing is known."""
    found: dict[Held, None] = {}
    for pid in _processes_of(life):
        paths = _open_files(pid)
        for inode, start in _write_locks(pid):
            if inode in paths:
                found[_held(paths[inode], start)] = None
    return list(found)


def _held(path: str, start: int) -> Held:
    if path.endswith("-shm"):
        return Held(path.removesuffix("-shm"), True)
    return Held(path, start >= _SQLITE_LOCKS)


def _processes_of(group: int) -> list[int]:
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if name.isdigit() and os.getpgid(int(name)) == group:
                found.append(int(name))
    return found


def _open_files(pid: int) -> dict[int, str]:
    """Inode -> path. Nothing is opened: closing it again would drop this process's own locks on it."""
    found: dict[int, str] = {}
    directory = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for fd in os.listdir(directory):
            with contextlib.suppress(OSError):
                found[os.stat(f"{directory}/{fd}").st_ino] = os.readlink(f"{directory}/{fd}")
    return found


def _write_locks(pid: int) -> list[tuple[int, int]]:
    """Inode and start of each exclusive lock of a process, from lines such as
    `1: POSIX  ADVISORY  WRITE 2405 08:02:131074 1073741825 1073741825`."""
    try:
        lines = Path("/proc/locks").read_text().splitlines()
    except OSError:
        return []
    fields = [line.split() for line in lines if "->" not in line]
    return [(int(f[5].rpartition(":")[2]), int(f[6])) for f in fields if f[3] == "WRITE" and f[4] == str(pid)]
