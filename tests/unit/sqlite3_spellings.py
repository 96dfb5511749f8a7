"""Ways to spell a commit, and things that look like one. `go` is called right before it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import connect as early_connect
from sqlite3.dbapi2 import connect as early_dbapi2_connect
from typing import Any


class Bench:
    """What a spelling works with: database files that have a table, and connections that get closed."""

    def __init__(self, path: Path, go: Callable[[], object]) -> None:
        self.path, self.go = path, go
        self._opened: list[Any] = []

    def connect(self, connect: Callable[..., Any] = sqlite3.connect, **options: Any) -> Any:
        connection = connect(self.path, **options)
        self._opened.append(connection)
        return connection

    def pending(self, connect: Callable[..., Any] = sqlite3.connect, **options: Any) -> Any:
        """A connection with a row inserted and not committed."""
        connection = self.connect(connect, **options)
        connection.execute("insert into t values (1, 1)")
        return connection

    def close(self) -> None:
        for connection in self._opened:
            connection.close()


ROW = "insert into t values (1, 1)"
ONCE = ("enter", "exit")


@dataclass
class Spelling:
    run: Callable[[Bench], None]
    points: Sequence[str]
    after_error: str
    """what a caller gets when an error was raised at `:enter`"""
    after_lost_ack: str
    needs: str | None
    guessed: Sequence[str] | None
    """the points where SQLite's C functions can't be reached, if they are others"""


SPELLINGS: dict[str, Spelling] = {}


def spelling(
    *points: str,
    after_error: str = "Boom",
    after_lost_ack: str = "Boom",
    needs: str | None = None,
    guessed: Sequence[str] | None = None,
) -> Callable[[Callable[[Bench], None]], None]:
    def add(run: Callable[[Bench], None]) -> None:
        SPELLINGS[run.__name__] = Spelling(run, points, after_error, after_lost_ack, needs, guessed)

    return add


# -- committing a transaction --------------------------------------------------------------------


@spelling(*ONCE)
def commit(bench: Bench) -> None:
    connection = bench.pending()
    bench.go()
    connection.commit()


@spelling(*ONCE)
def with_connection(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    with connection:
        connection.execute(ROW)


@spelling(*ONCE)
def execute_commit(bench: Bench) -> None:
    connection = bench.pending()
    bench.go()
    connection.execute("COMMIT")


@spelling(*ONCE)
def execute_end_after_comment(bench: Bench) -> None:
    cursor = bench.pending().cursor()
    bench.go()
    cursor.execute("/* done */ END")


@spelling(*ONCE)
def transaction_without_isolation_level(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("begin")
    connection.execute(ROW)
    bench.go()
    connection.execute("commit")


@spelling(*ONCE)
def release_outermost(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("savepoint a")
    connection.execute(ROW)
    bench.go()
    connection.execute("release a")


@spelling(*ONCE, guessed=())
def setting_isolation_level(bench: Bench) -> None:
    connection = bench.pending()
    bench.go()
    connection.isolation_level = None


@spelling(*ONCE)
def bound_method_kept(bench: Bench) -> None:
    connection = bench.connect()
    finish = connection.commit
    connection.execute(ROW)
    bench.go()
    finish()


@spelling(*ONCE)
def attached_database(bench: Bench) -> None:
    connection = bench.connect()
    connection.execute("attach ? as other", (f"{bench.path}-other",))
    connection.execute("create table other.u (x)")
    connection.execute(ROW)
    connection.execute("insert into other.u values (1)")
    bench.go()
    connection.commit()


@spelling(*ONCE, guessed=())
def only_the_attached_database(bench: Bench) -> None:
    connection = bench.connect(lambda path: sqlite3.connect(":memory:"))
    connection.execute("attach ? as other", (str(bench.path),))
    connection.execute("insert into other.t values (1, 1)")
    bench.go()
    connection.commit()


def in_journal_mode(mode: str) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        connection = bench.connect()
        connection.execute(f"pragma journal_mode = {mode}")
        connection.execute("insert into t values (0, 1)")
        connection.commit()
        connection.execute(ROW)
        bench.go()
        connection.commit()

    return run


for mode in ("wal", "truncate", "persist"):
    SPELLINGS[f"journal_mode_{mode}"] = Spelling(in_journal_mode(mode), ONCE, "Boom", "Boom", None, None)


@spelling(*ONCE, after_error="in thread: Boom", after_lost_ack="in thread: Boom")
def in_a_thread(bench: Bench) -> None:
    connection = bench.pending(check_same_thread=False)
    bench.go()
    heard: list[str] = []
    threading.excepthook = lambda args: heard.append(args.exc_type.__name__)
    thread = threading.Thread(target=connection.commit)
    thread.start()
    thread.join()
    if heard:
        raise type(f"in thread: {heard[0]}", (Exception,), {})


@spelling(*ONCE)
def user_has_a_trace_callback(bench: Bench) -> None:
    connection = bench.connect()
    statements: list[str] = []
    connection.set_trace_callback(statements.append)
    connection.execute(ROW)
    bench.go()
    connection.commit()
    assert "COMMIT" in statements


@spelling(*ONCE)
def user_has_a_row_factory_and_a_function_that_fails(bench: Bench) -> None:
    connection = bench.pending()
    connection.row_factory = sqlite3.Row
    connection.create_function("fail", 0, lambda: 1 / 0)
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute("select fail()").fetchone()
    bench.go()
    connection.commit()
    assert connection.execute("select y from t").fetchone()["y"] == 1


# -- by the way in which the connection was made -------------------------------------------------


class CallsSuper(sqlite3.Connection):
    def commit(self) -> None:
        super().commit()


def by_default_argument(path: Path, connect: Callable[..., Any] = sqlite3.connect) -> Any:
    return connect(path)


def made_by(connect: Callable[..., Any], **options: Any) -> Callable[[Bench], None]:
    def run(bench: Bench) -> None:
        connection = bench.pending(connect, **options)
        bench.go()
        connection.commit()

    return run


made: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
    ("factory_that_calls_super", sqlite3.connect, {"factory": CallsSuper}),
    ("connection_called", sqlite3.Connection, {}),
    ("subclass_called", CallsSuper, {}),
    ("alias_from_before", early_connect, {}),
    ("alias_of_dbapi2_from_before", early_dbapi2_connect, {}),
    ("default_argument", by_default_argument, {}),
]
for name, connect, options in made:
    SPELLINGS[name] = Spelling(made_by(connect, **options), ONCE, "Boom", "Boom", None, None)


# -- several commits in one call -----------------------------------------------------------------


@spelling(*ONCE)
def script_with_transaction(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.executescript("begin; insert into t values (1, 1); commit;")


@spelling(*ONCE, *ONCE, guessed=ONCE)
def script_with_two_autocommits(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.executescript("insert into t values (1, 1); insert into t values (2, 1);")


@spelling(*ONCE)
def script_that_commits_what_was_pending(bench: Bench) -> None:
    connection = bench.pending()
    bench.go()
    connection.executescript("select 1;")


@spelling(*ONCE, *ONCE, *ONCE, guessed=ONCE)
def executemany_with_autocommit(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    connection.executemany("insert into t values (?, 1)", [(1,), (2,), (3,)])


@spelling(*ONCE, guessed=("enter",), after_lost_ack="Boom")
def script_that_fails_after_its_commit(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    with contextlib.suppress(sqlite3.OperationalError):
        connection.executescript("insert into t values (1, 1); insert into nowhere values (1);")


# -- statements that commit themselves -----------------------------------------------------------


@spelling(*ONCE)
def insert_with_autocommit(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    connection.execute(ROW)


@spelling(*ONCE)
def create_table(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.execute("create table u (x)")


@spelling(*ONCE, guessed=())
def with_clause_that_inserts(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    connection.execute("with q as (select 5) insert into t select *, 1 from q")


@spelling(*ONCE)
def returning_fetchone(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    assert connection.execute(f"{ROW} returning x").fetchone() == (1,)


@spelling(*ONCE)
def returning_fetchall(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    assert connection.execute(f"{ROW} returning x").fetchall() == [(1,)]


@spelling(*ONCE)
def returning_iterated(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    assert list(connection.execute(f"{ROW} returning x")) == [(1,)]


@spelling(*ONCE)
def returning_closed_unread(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    connection.execute("insert into t values (1, 1), (2, 1), (3, 1) returning x").close()


@spelling(*ONCE)
def pragma_that_writes(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.execute("pragma user_version = 3")


@spelling(*ONCE, guessed=())
def blob_written(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("insert into t values (1, zeroblob(4))")
    bench.go()
    blob = connection.blobopen("t", "y", 1)
    blob.write(b"abcd")
    blob.close()


if sys.version_info >= (3, 12):

    @spelling(*ONCE, guessed=())
    def autocommit_true(bench: Bench) -> None:
        connection = bench.connect(autocommit=True)
        bench.go()
        connection.execute(ROW)

    @spelling(*ONCE)
    def autocommit_false(bench: Bench) -> None:
        connection = bench.pending(autocommit=False)
        bench.go()
        connection.commit()

    @spelling(*ONCE)
    def with_connection_and_autocommit_false(bench: Bench) -> None:
        connection = bench.connect(autocommit=False)
        bench.go()
        with connection:
            connection.execute(ROW)

    @spelling(*ONCE, guessed=())
    def setting_autocommit(bench: Bench) -> None:
        connection = bench.pending(autocommit=False)
        bench.go()
        connection.autocommit = True


# -- what is no commit ---------------------------------------------------------------------------


@spelling()
def with_clause_that_selects(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    assert connection.execute("with q as (select 5) select * from q").fetchall() == [(5,)]


@spelling(guessed=ONCE)
def release_inner(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("begin")
    connection.execute("savepoint a")
    connection.execute(ROW)
    bench.go()
    connection.execute("release a")


@spelling()
def empty_commit(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.commit()


@spelling()
def rollback(bench: Bench) -> None:
    connection = bench.pending()
    bench.go()
    connection.rollback()


@spelling(guessed=ONCE)
def transaction_that_only_reads(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("begin")
    connection.execute("select * from t").fetchall()
    bench.go()
    connection.execute("commit")


@spelling(guessed=ONCE)
def transaction_that_locks_and_writes_nothing(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute(ROW)
    connection.execute("begin immediate")
    connection.execute("update t set y = 2 where x = 99")
    bench.go()
    connection.execute("commit")


@spelling(guessed=("enter",))
def commit_that_a_deferred_constraint_refuses(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    connection.execute("pragma foreign_keys = 1")
    connection.execute("create table f (x references t (x) deferrable initially deferred)")
    connection.execute("begin")
    connection.execute("insert into f values (99)")
    bench.go()
    with contextlib.suppress(sqlite3.IntegrityError):
        connection.execute("commit")


@spelling(guessed=("enter",))
def commit_that_finds_a_lock(bench: Bench) -> None:
    connection = bench.connect(timeout=0)
    other = bench.connect(isolation_level=None)
    other.execute("begin")
    other.execute("select * from t").fetchall()
    connection.execute(ROW)
    bench.go()
    with contextlib.suppress(sqlite3.OperationalError):
        connection.commit()
    other.execute("rollback")


@spelling(guessed=(*ONCE, *ONCE))
def temporary_table(bench: Bench) -> None:
    connection = bench.connect(isolation_level=None)
    bench.go()
    connection.execute("create temporary table u (x)")
    connection.execute("insert into u values (1)")


@spelling()
def vacuum(bench: Bench) -> None:
    connection = bench.connect()
    bench.go()
    connection.execute("vacuum")


@spelling()
def memory(bench: Bench) -> None:
    connection = bench.connect(lambda path: sqlite3.connect(":memory:"))
    bench.go()
    connection.execute("create table t (x)")
    connection.execute("insert into t values (1)")
    connection.commit()


@spelling()
def coverage_data(bench: Bench) -> None:
    connection = bench.connect(lambda path: sqlite3.connect(path.with_name(".coverage.host.1")))
    bench.go()
    connection.execute("create table if not exists t (x)")
    connection.execute("insert into t values (1)")
    connection.commit()


# -- libraries -----------------------------------------------------------------------------------


@spelling(*ONCE, needs="aiosqlite")
def aiosqlite(bench: Bench) -> None:
    import aiosqlite

    async def main() -> None:
        async with aiosqlite.connect(bench.path) as connection:
            await connection.execute(ROW)
            bench.go()
            await connection.commit()

    asyncio.run(main())


@contextlib.contextmanager
def engine(path: Path, **options: Any) -> Iterator[Any]:
    import sqlalchemy

    engine = sqlalchemy.create_engine(f"sqlite:///{path}", **options)
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@spelling(*ONCE, needs="sqlalchemy")
def sqlalchemy(bench: Bench) -> None:
    import sqlalchemy

    with engine(bench.path) as connection:
        connection.execute(sqlalchemy.text(ROW))
        bench.go()
        connection.commit()


@spelling(*ONCE, needs="sqlalchemy")
def sqlalchemy_autocommit(bench: Bench) -> None:
    import sqlalchemy

    with engine(bench.path, isolation_level="AUTOCOMMIT") as connection:
        bench.go()
        connection.execute(sqlalchemy.text(ROW))


# Its own rollback fails after an error, since there is nothing left to roll back.
@spelling(*ONCE, needs="peewee", after_error="OperationalError", after_lost_ack="OperationalError")
def peewee(bench: Bench) -> None:
    import peewee

    database = peewee.SqliteDatabase(str(bench.path))
    database.connect()
    bench.go()
    try:
        with database.atomic():
            database.execute_sql(ROW)  # type: ignore[no-untyped-call]
    finally:
        database.close()


@spelling(*ONCE, needs="django")
def django(bench: Bench) -> None:
    import django  # type: ignore[import-untyped]
    from django.conf import settings  # type: ignore[import-untyped]

    databases = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(bench.path)}}
    settings.configure(DATABASES=databases, INSTALLED_APPS=[])
    django.setup()
    from django.db import connection, transaction  # type: ignore[import-untyped]

    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(ROW)
            bench.go()
    finally:
        connection.close()


@spelling(needs="apsw")
def apsw(bench: Bench) -> None:
    import apsw  # brings its own copy of SQLite

    connection = bench.connect(lambda path: apsw.Connection(str(path)))
    bench.go()
    connection.execute(ROW)
