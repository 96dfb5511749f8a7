"""The C functions of the SQLite that Python's `sqlite3` uses, by `ctypes`: Python offers no commit hook."""

from __future__ import annotations

import _sqlite3
import contextlib
import ctypes
import os
import sqlite3
from typing import Any

CommitHook = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_WRITING = 2  # SQLITE_TXN_WRITE
_JOURNAL_POINTER = 28  # SQLITE_FCNTL_JOURNAL_POINTER


class Library:
    """The copy of SQLite that Python's `sqlite3` uses."""

    def __init__(self, functions: Any) -> None:
        handle, text = ctypes.c_void_p, ctypes.c_char_p
        self.commit_hook = _declared(functions.sqlite3_commit_hook, handle, handle, CommitHook, handle)
        self._filename = _declared(functions.sqlite3_db_filename, text, handle, text)
        self._total_changes = _declared(functions.sqlite3_total_changes, ctypes.c_int, handle)
        self._autocommit = _declared(functions.sqlite3_get_autocommit, ctypes.c_int, handle)
        self._control = _declared(functions.sqlite3_file_control, ctypes.c_int, handle, text, ctypes.c_int, handle)
        self._transaction = self._schema_name = None
        with contextlib.suppress(AttributeError):
            self._transaction = _declared(functions.sqlite3_txn_state, ctypes.c_int, handle, text)  # 3.34+
            self._schema_name = _declared(functions.sqlite3_db_name, text, handle, ctypes.c_int)  # 3.39+

    @classmethod
    def found(cls) -> Library | None:
        """None if the C functions can't be found, or aren't those that work on Python's connections."""
        for place in (getattr(_sqlite3, "__file__", None), None):
            with contextlib.suppress(OSError, AttributeError, TypeError):
                library = cls(ctypes.PyDLL(place))  # keeps the GIL: these calls are short and don't block
                return library if library._knows_our_connections() else None
        return None

    def _knows_our_connections(self) -> bool:
        with contextlib.closing(sqlite3.connect(":memory:")) as connection:
            handle = self.handle_of(connection)
            connection.executescript("create table t(x); insert into t values (1), (2)")
            changes, idle = self._total_changes(handle), self._autocommit(handle)
            connection.execute("insert into t values (3)")
            return bool(
                (changes, idle) == (2, 1)
                and (self._total_changes(handle), self._autocommit(handle)) == (3, 0)
                and not self._filename(handle, b"main")
            )

    @staticmethod
    def handle_of(connection: sqlite3.Connection) -> int:
        """The `sqlite3*`, which is the first field of the object; usable before `__init__` is over."""
        return ctypes.c_void_p.from_address(id(connection) + object.__basicsize__).value or 0

    def path(self, handle: int, schema: bytes = b"main") -> str | None:
        """The file of a database; None for one in memory."""
        return os.fsdecode(self._filename(handle, schema) or b"") or None

    def path_written(self, handle: int, main: str | None) -> str | None:
        """The file that the current transaction writes to (the first, if it's several)."""
        if self._transaction is None:
            return main
        if main is not None and self._transaction(handle, b"main") == _WRITING:
            return main
        if self._schema_name is None:
            return main if self._transaction(handle, b"temp") != _WRITING else None
        number = 2  # 0 is "main", 1 is "temp"
        while True:
            schema = self._schema_name(handle, number)
            if schema is None:
                return None
            if self._transaction(handle, schema) == _WRITING and self.path(handle, schema):
                return self.path(handle, schema)
            number += 1

    def has_journal(self, handle: int) -> bool:
        """False if the main database has no open journal, so that no page of it was changed."""
        journal = ctypes.c_void_p()
        if self._control(handle, b"main", _JOURNAL_POINTER, ctypes.byref(journal)) or not journal.value:
            return True  # it doesn't say
        return ctypes.c_void_p.from_address(journal.value).value is not None


def _declared(function: Any, result: Any, *arguments: Any) -> Any:
    function.restype, function.argtypes = result, arguments
    return function


def measures_coverage(path: str | None) -> bool:
    """Whether it is a data file of coverage.py, which is part of the test, not of what is tested."""
    return os.path.basename(path or "").startswith(".coverage")
