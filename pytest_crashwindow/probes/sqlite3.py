"""`sqlite3`: the instant before a commit takes effect and the instant after, however it is spelled.

`:enter` is fired by SQLite itself, through `sqlite3_commit_hook`: after the lock, before the effect,
and only if something was written to a file. No spelling of a commit can avoid it, and a crash in it
leaves a hot journal. `:exit` is fired by the method of `Connection`, `Cursor` or `Blob` during which
the commit took effect, when it returns. Python offers neither the hook nor a way to replace those
methods, hence `ctypes` and `surgery`.
"""

from __future__ import annotations

import functools
import re
import sqlite3
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..surgery import set_in_type
from .base import Probe
from .sqlite3_guessed import STATEMENTS, GuessedCommits
from .sqlite3_library import CommitHook, Library, measures_coverage

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
_JOURNAL_OFF = re.compile(r"journal_mode\W+off", re.IGNORECASE)
_SETTERS = ("isolation_level", "autocommit")
"""attributes of a connection that commit when they are set"""
_COMMIT_FAILED = frozenset({5, 7, 10, 13})
"""SQLITE_BUSY, NOMEM, IOERR, FULL: what the commit itself can fail with after its hook was called"""


class Sqlite3(Probe):
    """Commits to database files by the standard library's `sqlite3`; not to `:memory:` or temporary tables.

    `error` at `sqlite3.commit:enter` makes SQLite roll the transaction back, as a full disk would.
    Not seen: `VACUUM`, `Connection.backup`, and connections of other libraries (`apsw`, `pysqlite3`). Where
    the journal stays open (WAL, TRUNCATE, PERSIST), a transaction that took the write lock counts even if
    it changed nothing. Data files of coverage.py are left out.
    """

    name = "sqlite3"
    calls = ("sqlite3.commit", "sqlite3.execute")
    only_by_name = ("sqlite3.execute",)

    exact = True
    """False after `install` where SQLite's C functions can't be reached: then `:enter` comes before the
    method that commits, which is guessed from the text of the statement"""

    def install(self, site: Site) -> None:
        statements = _Statements(site.tracker)
        library = Library.found()
        self.exact = library is not None
        if library is None:
            _wrap_methods(site, GuessedCommits(site.tracker).wrapped, statements.wrapped)
            return
        commits = _Commits(site.tracker, library, statements)
        if sys.version_info >= (3, 10):  # noqa: UP036  # spawned commands may run on older ones
            site.tracker.listen("sqlite3.connect/handle", lambda arguments: commits.watch(arguments[0]))
        else:
            _wrap_init(site, commits.watch)
        _wrap_methods(site, commits.wrapped, statements.wrapped)


# -- replacing the methods -----------------------------------------------------------------------

_Method = Callable[..., Any]


def _wrap_methods(
    site: Site, with_commits: Callable[[_Method], _Method], as_statement: Callable[[_Method, _Method], _Method]
) -> None:
    for type_name, methods in _METHODS.items():
        kind = getattr(sqlite3, type_name, None)
        if kind is None:
            continue
        wrappers = {method: with_commits(vars(kind)[method]) for method in methods}
        for method in STATEMENTS & wrappers.keys():
            wrappers[method] = as_statement(wrappers[method], vars(kind)[method])
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


# -- statements ----------------------------------------------------------------------------------


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
        self.journal_off = False
        """whether some connection does without a journal, whose absence then shows nothing"""

    def wrapped(self, watched: _Method, original: _Method) -> _Method:
        """`watched` is the original with its commits watched."""
        tracker, threads, passed, unwanted = self._tracker, self._threads, self._tracker.passed, self._tracker.unwanted

        @functools.wraps(original)
        def statement(target: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active or not args:
                return watched(target, *args, **kwargs)
            thread, sql = threads.this, args[0]
            if sql is thread.statement:  # before Python 3.13 the methods of a connection call those of a cursor
                return original(target, *args, **kwargs)
            outer, thread.statement = thread.statement, sql
            if isinstance(sql, str) and ("ournal" in sql or "OURNAL" in sql):
                self.journal_off = self.journal_off or _JOURNAL_OFF.search(sql) is not None
            try:
                if "sqlite3.execute:enter" not in unwanted:
                    passed("sqlite3.execute:enter", args[:1])
                result = watched(target, *args, **kwargs)
                if "sqlite3.execute:exit" not in unwanted:
                    passed("sqlite3.execute:exit", args[:1])
            finally:
                thread.statement = outer
            return result

        return statement


# -- exact commits -------------------------------------------------------------------------------


class _Commits:
    def __init__(self, tracker: Tracker, library: Library, statements: _Statements) -> None:
        self._tracker, self._library, self._statements = tracker, library, statements
        self._threads = _Threads()
        self._hook = CommitHook(self._about_to_commit)  # must live as long as any connection
        self._paths: dict[int, str | None] = {}

    def watch(self, connection: sqlite3.Connection) -> None:
        """Called for each new connection, before it is usable by its methods."""
        handle = self._library.handle_of(connection)
        path = self._library.path(handle) if handle else None
        if handle and not measures_coverage(path):
            self._paths[handle] = path
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
        if path is None or path is not main or self._statements.journal_off:
            return path
        return path if self._library.has_journal(handle) else None

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


def _raise_where_nobody_catches(error: BaseException) -> None:
    """For a commit in the garbage collector: the interpreter reports it and goes on."""

    class Unheard:
        def __del__(self) -> None:
            raise error

    Unheard()
