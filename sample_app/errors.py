"""What can go wrong, each with a message that is one clear line."""

from __future__ import annotations

import errno
import sqlite3


class AppError(Exception):
    """Something to tell the user in one line."""


class Transient(AppError):
    """It may work later. Whether it took effect this time has to be read from the database."""


class Busy(Transient):
    """Another writer held the lock for longer than the limit."""


class DiskFull(Transient):
    """No space was left; nothing of the transaction was kept."""


class DatabaseMissing(AppError):
    """There is no such database; `init` makes one."""


class CannotOpen(AppError):
    """The file is there, and is no database that we could use."""


class ReadOnly(AppError):
    """The database can be read but not written."""


class NotDurable(AppError):
    """WAL or synchronous=FULL was asked for and not obtained."""


class WrongSchema(AppError):
    """The database is of another version than the code."""


class BadPayload(AppError):
    """A request that cannot be understood."""


class Conflict(AppError):
    """The same key with another content. Nothing was overwritten."""


class Refused(AppError):
    """An act that the current state doesn't allow. Nothing was changed."""


class ClockWentBack(AppError):
    """The clock is earlier than what has been recorded already."""


class SafeToRetry(Exception):
    """A failure that is known to have had no effect anywhere."""


_BY_CODE: dict[int, tuple[type[AppError], str]] = {
    sqlite3.SQLITE_BUSY: (Busy, "database locked by another writer for too long"),
    sqlite3.SQLITE_LOCKED: (Busy, "database locked by another writer for too long"),
    sqlite3.SQLITE_FULL: (DiskFull, "disk full"),
    sqlite3.SQLITE_READONLY: (ReadOnly, "database is read-only"),
    sqlite3.SQLITE_CANTOPEN: (CannotOpen, "database cannot be opened"),
    sqlite3.SQLITE_NOTADB: (CannotOpen, "not a SQLite database"),
}


def explain(error: sqlite3.Error, path: object) -> AppError:
    """The error of ours for an error of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else -1  # the rest is the extended code
    kind, text = _BY_CODE.get(primary, (Transient, str(error)))
    return kind(f"{text}: {path}")


def one_line(error: BaseException) -> str:
    """What the command line prints."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "disk full"
    return " ".join(str(error).split()) or type(error).__name__
