"""`sqlite3`: the instant before a commit takes effect and the instant after, however it is spelled.

`:enter` is fired by SQLite itself, through `sqlite3_commit_hook`: after the lock, before the effect,
and only if something was written to a file. No spelling of a commit can avoid it, and a crash in it
leaves a hot journal. `:exit` is fired by the method of `Connection`, `Cursor` or `Blob` during which
the commit took effect, when it returns. Python offers neither the hook nor a way to replace those
methods, hence `ctypes` and `surgery`.
"""

from __future__ import annotations

import _sqlite3
import contextlib
import ctypes
import functools
import os
import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..surgery import set_in_type
from .base import Probe

if TYPE_CHECKING:
    from ..installing import Site
    from ..tracker import Tracker

_METHODS: dict[str, tuple[str, ...]] = {
    "Connection": ("commit", "__exit__", "close", "execute", "executemany", "executescript"),
    "Cursor": (
        "close",
        "execute",
        "executemany",
        "executescript",
        "__next__",
        "fetchone",
        "fetchmany",
        "fetchall",
    ),
    "Blob": ("close", "__exit__"),  # Python 3.11+
}
"""during which a commit may take effect"""
_SETTERS = ("isolation_level", "autocommit")
"""attributes of a connection that commit when they are set"""
_STATEMENTS = frozenset({"execute", "executemany", "executescript"})


class Sqlite3(Probe):
    """Commits to database files by the standard library's `sqlite3`; not to `:memory:` or temporary tables.

    `error` at `sqlite3.commit:enter` makes SQLite roll the transaction back, as a full disk would.
    Not seen: `VACUUM`, `Connection.backup`, and connections of other libraries (`apsw`, `pysqlite3`). In
    WAL mode a transaction that took the write lock counts even if no row was changed. Data files of
    coverage.py are left out.
    """

    name = "sqlite3"
    calls = ("sqlite3.commit", "sqlite3.execute")
    only_by_name = ("sqlite3.execute",)

    exact = True
    """False after `install` where SQLite's C functions can't be reached: then `:enter` comes before the
    method that commits, which is guessed from the text of the statement"""

    def install(self, site: Site) -> None:
        statements = _Statements(site.tracker)
        library = _Library.found()
        self.exact = library is not None
        if library is None:
            _wrap_methods(site, _GuessedCommits(site.tracker).wrapped, statements.wrapped)
            return
        commits = _Commits(site.tracker, library)
        if sys.version_info >= (3, 10):  # noqa: UP036  # spawned commands may run on older ones
            site.tracker.listen("sqlite3.connect/handle", lambda arguments: commits.watch(arguments[0]))
        else:
            _wrap_init(site, commits.watch)
        _wrap_methods(site, commits.wrapped, statements.wrapped)


# -- replacing the methods -----------------------------------------------------------------------

_Method = Callable[..., Any]


def _wrap_methods(
    site: Site, with_commits: Callable[[_Method], _Method], as_statement: Callable[[_Method], _Method]
) -> None:
    for type_name, methods in _METHODS.items():
        kind = getattr(sqlite3, type_name, None)
        if kind is None:
            continue
        wrappers = {method: with_commits(vars(kind)[method]) for method in methods}
        for method in _STATEMENTS & wrappers.keys():
            wrappers[method] = as_statement(wrappers[method])
        site.on_uninstall(set_in_type(kind, wrappers))
    setters = {}
    for attribute in _SETTERS:
        if attribute in vars(sqlite3.Connection):
            getset = vars(sqlite3.Connection)[attribute]
            setters[attribute] = property(getset.__get__, with_commits(getset.__set__), doc=getset.__doc__)
    site.on_uninstall(set_in_type(sqlite3.Connection, setters))


def _wrap_init(site: Site, watch: Callable[[sqlite3.Connection], None]) -> None:
    original, tracker = sqlite3.Connection.__init__, site.tracker

    @functools.wraps(original)
    def init(connection: sqlite3.Connection, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        original(connection, *args, **kwargs)
        if tracker.active:
            watch(connection)

    site.on_uninstall(set_in_type(sqlite3.Connection, {"__init__": init}))


# -- SQLite's C functions ------------------------------------------------------------------------

_CommitHook = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_WRITING = 2  # SQLITE_TXN_WRITE
_JOURNAL_POINTER = 28  # SQLITE_FCNTL_JOURNAL_POINTER
_COMMIT_FAILED = frozenset({5, 7, 10, 13})
"""SQLITE_BUSY, NOMEM, IOERR, FULL: what the commit itself can fail with after its hook was called"""


class _Library:
    """The copy of SQLite that Python's `sqlite3` uses."""

    def __init__(self, functions: Any) -> None:
        handle, text = ctypes.c_void_p, ctypes.c_char_p
        self.commit_hook = _declared(functions.sqlite3_commit_hook, handle, handle, _CommitHook, handle)
        self._filename = _declared(functions.sqlite3_db_filename, text, handle, text)
        self._total_changes = _declared(functions.sqlite3_total_changes, ctypes.c_int, handle)
        self._autocommit = _declared(functions.sqlite3_get_autocommit, ctypes.c_int, handle)
        self._control = _declared(functions.sqlite3_file_control, ctypes.c_int, handle, text, ctypes.c_int, handle)
        self._transaction = self._schema_name = None
        with contextlib.suppress(AttributeError):
            self._transaction = _declared(functions.sqlite3_txn_state, ctypes.c_int, handle, text)  # 3.34+
            self._schema_name = _declared(functions.sqlite3_db_name, text, handle, ctypes.c_int)  # 3.39+

    @classmethod
    def found(cls) -> _Library | None:
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

    def total_changes(self, handle: int) -> int:
        """Rows changed since the connection was opened."""
        return int(self._total_changes(handle))

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


# -- statements -------------------------------------------------------------------------------


class _Thread:
    """What one thread is doing."""

    __slots__ = ("committed", "depth", "raised", "statement")

    def __init__(self) -> None:
        self.statement: object = None
        """the SQL of the innermost `sqlite3.execute` that it is in"""
        self.depth = 0
        """how many methods it is in during which a commit may take effect"""
        self.committed: list[str] = []
        """paths of commits of the innermost of them whose `:exit` has not been fired"""
        self.raised: BaseException | None = None
        """what a fault raised inside SQLite, where it can't pass; the innermost method raises it"""


class _Threads(threading.local):
    def __init__(self) -> None:
        self.this = _Thread()


class _Statements:
    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._threads = _Threads()

    def wrapped(self, original: _Method) -> _Method:
        tracker, threads = self._tracker, self._threads

        @functools.wraps(original)
        def statement(target: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            thread = threads.this
            # Before Python 3.13 the methods of a connection call those of a cursor.
            if not tracker.active or not args or args[0] is thread.statement:
                return original(target, *args, **kwargs)
            outer, thread.statement = thread.statement, args[0]
            try:
                tracker.passed("sqlite3.execute:enter", args[:1])
                result = original(target, *args, **kwargs)
                tracker.passed("sqlite3.execute:exit", args[:1])
            finally:
                thread.statement = outer
            return result

        return statement


# -- exact commits -------------------------------------------------------------------------------


class _Commits:
    def __init__(self, tracker: Tracker, library: _Library) -> None:
        self._tracker, self._library = tracker, library
        self._threads = _Threads()
        self._hook = _CommitHook(self._about_to_commit)  # must live as long as any connection
        self._paths: dict[int, str | None] = {}
        self._changes: dict[int, int] = {}

    def watch(self, connection: sqlite3.Connection) -> None:
        """Called for each new connection, before it is usable by its methods."""
        handle = self._library.handle_of(connection)
        path = self._library.path(handle) if handle else None
        if handle and not _measures_coverage(path):
            self._paths[handle] = path
            self._changes[handle] = 0
            self._library.commit_hook(handle, self._hook, handle)

    def _about_to_commit(self, handle: int) -> int:
        """Called by SQLite; what this returns, if not 0, turns the commit into a rollback."""
        thread = self._threads.this
        try:
            path = self._path_written(handle)
            if path is None:
                return 0
            if thread.depth:
                self._finish(thread)  # an earlier commit of the same call has taken effect
            self._tracker.passed("sqlite3.commit:enter", (path,))
        except BaseException as error:  # whatever it is, C code can't pass it on
            if thread.depth:
                thread.raised = thread.raised or error
            else:
                _raise_where_nobody_catches(error)
            return 1
        thread.committed.append(path)
        return 0

    def _path_written(self, handle: int) -> str | None:
        main = self._paths.get(handle)
        path = self._library.path_written(handle, main)
        if path is not None and path is main and not self._library.has_journal(handle):
            # `journal_mode=off` has none either, so the rows decide.
            before, changes = self._changes.get(handle, -1), self._library.total_changes(handle)
            self._changes[handle] = changes
            return path if changes != before else None
        return path

    def _finish(self, thread: _Thread) -> None:
        try:
            self._pass_exits(thread)
        except BaseException as error:  # for the end of the call; the commit at hand goes on
            thread.raised = thread.raised or error

    def _pass_exits(self, thread: _Thread) -> None:
        __tracebackhide__ = True
        committed, thread.committed = thread.committed, []
        for path in committed:
            self._tracker.passed("sqlite3.commit:exit", (path,))

    def wrapped(self, original: _Method) -> _Method:
        threads, tracker, leave, leave_failed = self._threads, self._tracker, self._leave, self._leave_failed

        @functools.wraps(original)
        def method(target: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active:
                return original(target, *args, **kwargs)
            thread = threads.this
            depth, of_caller = thread.depth, thread.committed
            thread.depth = depth + 1
            if depth:
                thread.committed = []
            try:
                result = original(target, *args, **kwargs)
                if thread.committed or thread.raised:
                    leave(thread)
            except BaseException as error:
                if thread.committed or thread.raised:
                    leave_failed(thread, error)
                raise
            finally:
                thread.depth = depth
                if depth:
                    thread.committed = of_caller
            return result

        return method

    def _leave(self, thread: _Thread) -> None:
        __tracebackhide__ = True
        if thread.raised is None:
            self._pass_exits(thread)
        else:
            self._finish(thread)
            self._raise_what_was_raised(thread)

    def _leave_failed(self, thread: _Thread, error: BaseException) -> None:
        __tracebackhide__ = True
        if thread.committed and getattr(error, "sqlite_errorcode", 0) & 0xFF in _COMMIT_FAILED:
            thread.committed.pop()  # its hook was passed, but it had no effect
        self._leave(thread)

    def _raise_what_was_raised(self, thread: _Thread) -> None:
        __tracebackhide__ = True
        error, thread.raised = thread.raised, None
        if error is not None:
            raise error from None


def _measures_coverage(path: str | None) -> bool:
    """Whether it is a data file of coverage.py, which is part of the test, not of what is tested."""
    return os.path.basename(path or "").startswith(".coverage")


def _raise_where_nobody_catches(error: BaseException) -> None:
    """For a commit in the garbage collector: the interpreter reports it and goes on."""

    class Unheard:
        def __del__(self) -> None:
            raise error

    Unheard()


# -- guessed commits -----------------------------------------------------------------------------

_COMMENTS = re.compile(r"(?:\s|;|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))+", re.DOTALL)
_ENDS = re.compile(r"(?:commit|end|release)\b", re.IGNORECASE)
_CHANGES_ROWS = re.compile(r"(?:insert|update|delete|replace)\b", re.IGNORECASE)
_CHANGES_SCHEMA = re.compile(r"(?:create|drop|alter|reindex|pragma\s+\w+\s*=)", re.IGNORECASE)


class _GuessedCommits:
    """For interpreters with SQLite built in: the text of a statement tells whether it commits.

    Wrong for scripts with several commits (one point), `WITH ... INSERT`, inner `RELEASE` and commits
    that write nothing or fail.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._threads = _Threads()
        self._execute = sqlite3.Cursor.execute

    def wrapped(self, original: _Method) -> _Method:
        tracker, threads = self._tracker, self._threads
        name = getattr(original, "__name__", "")

        @functools.wraps(original)
        def method(target: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active:
                return original(target, *args, **kwargs)
            path = None if threads.this.depth else self._path_if_commits(target, name, args)
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
        self._threads.this.depth += 1
        try:
            yield
        finally:
            self._threads.this.depth -= 1

    def _path_if_commits(self, target: Any, name: str, args: Sequence[Any]) -> str | None:
        if name in _STATEMENTS:
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
        return None if _measures_coverage(path) else path or None

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
