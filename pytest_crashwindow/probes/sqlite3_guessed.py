"""Commits told by the text of statements, for interpreters whose SQLite can't be reached by `ctypes`."""

from __future__ import annotations

import contextlib
import functools
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .sqlite3_library import measures_coverage

if TYPE_CHECKING:
    from ..tracker import Tracker

STATEMENTS = frozenset({"execute", "executemany", "executescript"})

_COMMENTS = re.compile(r"(?:\s|;|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))+", re.DOTALL)
_ENDS = re.compile(r"(?:commit|end|release)\b", re.IGNORECASE)
_CHANGES_ROWS = re.compile(r"(?:insert|update|delete|replace)\b", re.IGNORECASE)
_CHANGES_SCHEMA = re.compile(r"(?:create|drop|alter|reindex|pragma\s+\w+\s*=)", re.IGNORECASE)


class _Depth(threading.local):
    depth = 0
    """how many methods that commit this thread is in"""


class GuessedCommits:
    """The text of a statement tells whether it commits, and what it does is told before it does it.

    Wrong for scripts with several commits (one point), `WITH ... INSERT`, inner `RELEASE` and commits
    that write nothing or fail.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._thread = _Depth()
        self._execute = sqlite3.Cursor.execute

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        tracker, thread = self._tracker, self._thread
        name = getattr(original, "__name__", "")

        @functools.wraps(original)
        def method(target: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active:
                return original(target, *args, **kwargs)
            path = None if thread.depth else self._path_if_commits(target, name, args)
            if path is None:
                return original(target, *args, **kwargs)
            with self._inside_a_call():
                self._enter(target, path)
                result = original(target, *args, **kwargs)
                tracker.passed("sqlite3.commit:exit", (path,))
            return result

        return method

    @contextlib.contextmanager
    def _inside_a_call(self) -> Iterator[None]:
        self._thread.depth += 1
        try:
            yield
        finally:
            self._thread.depth -= 1

    def _path_if_commits(self, target: Any, name: str, args: Sequence[Any]) -> str | None:
        if name in STATEMENTS:
            connection = _connection_of(target)
            commits = bool(args) and isinstance(args[0], str) and self._commits(connection, name, args[0])
        else:
            connection = target
            ends = name == "commit" or (name == "__exit__" and args[:1] == (None,))
            commits = ends and isinstance(target, sqlite3.Connection) and target.in_transaction
        return self._path(connection) if commits else None

    @staticmethod
    def _commits(connection: sqlite3.Connection, name: str, sql: str) -> bool:
        start = _COMMENTS.match(sql)
        sql = sql[start.end() :] if start else sql
        if name == "executescript":
            return connection.in_transaction or any(
                rule.search(sql) for rule in (_ENDS, _CHANGES_ROWS, _CHANGES_SCHEMA)
            )
        if connection.in_transaction:
            return _ENDS.match(sql) is not None
        if _CHANGES_ROWS.match(sql):
            return connection.isolation_level is None
        return _CHANGES_SCHEMA.match(sql) is not None

    def _path(self, connection: sqlite3.Connection) -> str | None:
        cursor = sqlite3.Cursor(connection)
        with self._inside_a_call(), self._tracker.unseen():
            cursor.row_factory = None
            rows = self._execute(cursor, "pragma database_list").fetchall()
        path: str = next((path for _, name, path in rows if name == "main"), "")
        return None if measures_coverage(path) else path or None

    def _enter(self, target: Any, path: str) -> None:
        __tracebackhide__ = True
        try:
            self._tracker.passed("sqlite3.commit:enter", (path,))
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                _connection_of(target).rollback()
            raise


def _connection_of(target: Any) -> sqlite3.Connection:
    connection: sqlite3.Connection = target if isinstance(target, sqlite3.Connection) else target.connection
    return connection
