from __future__ import annotations

import contextlib
import functools
import os
import resource
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probing import Ended, Lives, crash_at, error_at, lost_ack_at
from sqlite3_spellings import SPELLINGS, Bench, Spelling

from pytest_crashwindow.points import Armed
from pytest_crashwindow.probes.sqlite3 import Sqlite3
from pytest_crashwindow.probes.sqlite3_library import Library
from pytest_crashwindow.tracker import Tracker

ENTER, EXIT = "sqlite3.commit:enter", "sqlite3.commit:exit"


@pytest.fixture
def lives(tmp_path: Path) -> Lives:
    return Lives(tmp_path, Sqlite3)


def new_database(path: Path) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t (x integer primary key, y)")
    return path


def content(path: Path) -> tuple[list[str], list[int]]:
    """What the next one to open the database finds."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        pragmas = [connection.execute(f"pragma {name}").fetchone()[0] for name in ("user_version", "page_size")]
        return list(connection.iterdump()), pragmas


class Trial:
    """One spelling, each time on a new database."""

    def __init__(self, spelling: Spelling, lives: Lives) -> None:
        self.spelling, self.lives = spelling, lives
        self._count = 0

    def run(self, *armed: Armed, die_at_go: bool = False) -> tuple[Ended, tuple[list[str], list[int]]]:
        self._count += 1
        path = new_database(self.lives.directory / f"{self._count}.db")

        def body(tracker: Tracker) -> None:
            def go() -> None:
                tracker.passed("test.go")
                if die_at_go:
                    os._exit(7)

            bench = Bench(path, go)
            try:
                self.spelling.run(bench)
            finally:
                bench.close()

        ended = self.lives.run(body, *armed)
        return ended, content(path)


@pytest.fixture(params=list(SPELLINGS))
def trial(request: pytest.FixtureRequest, lives: Lives) -> Trial:
    spelling = SPELLINGS[request.param]
    if spelling.needs:
        pytest.importorskip(spelling.needs)
    return Trial(spelling, lives)


def test_each_spelling_passes_exactly_its_points_whatever_happens_there(trial: Trial) -> None:
    before, content_before = trial.run(die_at_go=True)
    assert before.status == 7
    control, content_after = trial.run()
    assert control.raised is None, control.report
    assert control.after_go == [f"sqlite3.commit:{end}" for end in trial.spelling.points]
    if not trial.spelling.points:
        return
    assert content_after != content_before
    nth = before.points.count(ENTER) + 1

    error, content_after_error = trial.run(error_at(ENTER, nth))
    assert error.raised == trial.spelling.after_error, error.report
    assert error.after_go[0] == ENTER
    assert EXIT not in error.after_go
    assert content_after_error == content_before

    lost, content_after_lost = trial.run(lost_ack_at(EXIT, nth))
    assert lost.raised == trial.spelling.after_lost_ack, lost.report
    assert lost.after_go == control.after_go
    assert content_after_lost == content_after

    crash, content_after_crash = trial.run(crash_at(ENTER, nth))
    assert crash.killed
    assert crash.after_go == [ENTER]
    assert content_after_crash == content_before

    late_crash, content_after_late_crash = trial.run(crash_at(EXIT, control.points.count(EXIT)))
    assert late_crash.killed
    assert late_crash.points == control.points
    assert content_after_late_crash == content_after


def test_without_the_c_functions_the_text_tells(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Library, "found", lambda: None)
    spelling = trial.spelling
    expected = spelling.points if spelling.guessed is None else spelling.guessed
    control, content_after = trial.run()
    assert control.raised is None, control.report
    assert control.after_go == [f"sqlite3.commit:{end}" for end in expected]
    if spelling.guessed is not None or not expected:
        return
    before, content_before = trial.run(die_at_go=True)
    nth = before.points.count(ENTER) + 1
    for armed, raised, content in [
        (error_at(ENTER, nth), spelling.after_error, content_before),
        (lost_ack_at(EXIT, nth), spelling.after_lost_ack, content_after),
    ]:
        ended, content_then = trial.run(armed)
        assert ended.raised == raised, ended.report
        assert content_then == content


@pytest.fixture
def run(lives: Lives, tmp_path: Path) -> Callable[..., Ended]:
    path = new_database(tmp_path / "some.db")

    def run(body: Callable[[Any, Tracker], Any], *armed: Armed, connect: Any = sqlite3.connect, **how: Any) -> Ended:
        def with_connection(tracker: Tracker) -> Any:
            with contextlib.closing(sqlite3.connect(path)) as connection:
                return body(connection, tracker)

        return lives.run(with_connection, *armed, **how)

    return run


def commit_a_row(connection: sqlite3.Connection, tracker: Tracker) -> None:
    connection.execute("insert into t values (1, 1)")
    connection.commit()


def test_the_argument_is_the_path(run: Callable[..., Ended], tmp_path: Path) -> None:
    ended = run(commit_a_row)
    assert ended.told == [(ENTER, repr(str(tmp_path / "some.db"))), (EXIT, repr(str(tmp_path / "some.db")))]


def test_the_path_of_an_attached_database(run: Callable[..., Ended], tmp_path: Path) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
        connection.execute("attach ? as other", (str(tmp_path / "other.db"),))
        connection.execute("create table other.u (x)")

    assert {hit.arguments for hit in run(body).hits} == {repr(str(tmp_path / "other.db"))}


def test_a_crash_at_enter_leaves_a_hot_journal_that_the_next_opener_rolls_back(
    run: Callable[..., Ended], tmp_path: Path
) -> None:
    empty = content(tmp_path / "some.db")
    assert run(commit_a_row, crash_at(ENTER)).killed
    assert (tmp_path / "some.db-journal").stat().st_size > 0
    assert content(tmp_path / "some.db") == empty


@pytest.mark.parametrize("mode", ["off", "OFF", "memory"])
def test_modes_that_do_not_survive_a_crash(run: Callable[..., Ended], mode: str) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
        connection.execute(f"PRAGMA JOURNAL_MODE={mode}")
        commit_a_row(connection, tracker)
        connection.isolation_level = None
        connection.execute("insert into t values (2, 1)")

    assert run(body).points == [ENTER, EXIT] * 2


def test_error_rolls_back_and_the_connection_goes_on(run: Callable[..., Ended]) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> tuple[str, bool]:
        try:
            commit_a_row(connection, tracker)
        except ConnectionError as error:
            told = f"{error!r} {error.__cause__} {error.__suppress_context__}"
        in_transaction = connection.in_transaction
        commit_a_row(connection, tracker)
        return told, in_transaction

    ended = run(body, error_at(ENTER, error=ConnectionError("gone")))
    assert ended.value == ("ConnectionError('gone') None True", False)
    assert ended.points == [ENTER, ENTER, EXIT]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, sqlite3.OperationalError, StopIteration])
@pytest.mark.parametrize("arm", [functools.partial(error_at, ENTER), functools.partial(lost_ack_at, EXIT)])
def test_any_exception_reaches_the_caller(run: Callable[..., Ended], arm: Any, error: type) -> None:
    assert run(commit_a_row, arm(error=error)).raised == error.__name__


def test_only_the_first_of_several_commits_fails(run: Callable[..., Ended], tmp_path: Path) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
        connection.isolation_level = None
        connection.executemany("insert into t values (?, 1)", [(1,), (2,), (3,)])

    ended = run(body, error_at(ENTER, nth=2))
    assert ended.raised == "Boom"
    assert ended.points == [ENTER, EXIT, ENTER]
    assert "VALUES(1,1)" in "".join(content(tmp_path / "some.db")[0])


def test_a_commit_that_fails_in_itself_has_no_exit(run: Callable[..., Ended]) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> str:
        connection.execute("insert into t values (1, zeroblob(100000))")
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))  # the disk is full
        try:
            connection.commit()
        except sqlite3.OperationalError as error:
            return str(error)
        return "committed"

    ended = run(body)
    assert ended.value in ("disk I/O error", "database or disk is full")
    assert ended.points == [ENTER]


def test_a_commit_inside_a_commit(run: Callable[..., Ended], tmp_path: Path) -> None:
    other_path = new_database(tmp_path / "other.db")

    def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
        with contextlib.closing(sqlite3.connect(other_path, isolation_level=None)) as other:
            connection.create_function("log", 0, lambda: other.execute("insert into t values (null, 1)").rowcount)
            connection.isolation_level = None
            connection.execute("insert into t values (log(), 1)")

    ended = run(body)
    assert [(point, "other.db" in path) for point, path in ended.told] == [
        (ENTER, True),
        (EXIT, True),
        (ENTER, False),
        (EXIT, False),
    ]


def test_an_error_in_the_garbage_collector_is_reported_as_unraisable(run: Callable[..., Ended]) -> None:
    def body(connection: sqlite3.Connection, tracker: Tracker) -> list[str]:
        heard: list[str] = []
        sys.unraisablehook = lambda unraisable: heard.append(str(unraisable.exc_type.__name__))
        connection.isolation_level = None
        cursor = connection.execute("insert into t values (1, 1), (2, 1), (3, 1) returning x")
        tracker.passed("test.go")
        del cursor
        return heard

    ended = run(body, error_at(ENTER))
    assert ended.value == ["Boom"]
    assert ended.after_go == [ENTER]


class TestStatements:
    def points_of(self, ended: Ended) -> list[str]:
        return [f"{hit.point[8:]} {hit.arguments}" for hit in ended.hits]

    def test_only_by_name(self, run: Callable[..., Ended]) -> None:
        assert run(commit_a_row, patterns=["sqlite3.*"]).points == [ENTER, EXIT]

    def test_each_once_with_its_sql(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
            connection.execute("select ?", (1,))
            connection.cursor().execute("select 2")
            connection.executescript("select 3")
            connection.executemany("insert into t values (?, 1)", [(1,), (2,)])

        ended = run(body, patterns=["sqlite3.execute"])
        assert self.points_of(ended) == [
            f"execute:{end} {sql!r}"
            for sql in ("select ?", "select 2", "select 3", "insert into t values (?, 1)")
            for end in ("enter", "exit")
        ]

    def test_commits_lie_inside(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
            connection.execute("create table u (x)")

        ended = run(body, patterns=["sqlite3.execute", "sqlite3.commit"])
        assert ended.points == ["sqlite3.execute:enter", ENTER, EXIT, "sqlite3.execute:exit"]

    def test_error_leaves_the_transaction_open(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> bool:
            connection.execute("insert into t values (1, 1)")
            try:
                connection.execute("COMMIT")
            except sqlite3.OperationalError:
                return connection.in_transaction
            return False

        locked = sqlite3.OperationalError("database is locked")
        ended = run(body, error_at("sqlite3.execute:enter", error=locked, match="COMMIT*"))
        assert ended.value is True

    def test_methods_of_a_cursor_of_the_users_own(self, run: Callable[..., Ended]) -> None:
        class Shouting(sqlite3.Cursor):
            def execute(self, sql: str, *args: Any) -> Shouting:
                super().execute(sql.upper(), *args)
                return self

        def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
            connection.cursor(Shouting).execute("select 1")

        ended = run(body, patterns=["sqlite3.execute"])
        assert self.points_of(ended) == ["execute:enter 'SELECT 1'", "execute:exit 'SELECT 1'"]


class TestTransparency:
    def test_outside_lives_nothing_happens(self, run: Callable[..., Ended], tmp_path: Path) -> None:
        ended = run(commit_a_row, begun=False)
        assert (ended.raised, ended.hits) == (None, [])
        assert "VALUES(1,1)" in "".join(content(tmp_path / "some.db")[0])

    def test_exceptions_of_sqlite_are_its_own(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> list[str]:
            told = []
            for call in (
                lambda: connection.execute("select * from nowhere"),
                lambda: connection.execute(),  # type: ignore[call-arg]
                lambda: connection.execute(sql="select 1"),  # type: ignore[call-arg]
                lambda: next(connection.execute("select 1 where 0")),
                lambda: setattr(connection, "isolation_level", "odd"),
            ):
                try:
                    call()
                except Exception as error:
                    told.append(f"{type(error).__name__}: {error}")
            return told

        assert run(body).value == run(body, begun=False).value
        assert len(run(body).value) == 5

    def test_attributes_signatures_and_documentation_stay(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> tuple[Any, ...]:
            connection.isolation_level = "IMMEDIATE"
            return (
                connection.isolation_level,
                sqlite3.Connection.commit.__name__,
                sqlite3.Connection.commit.__doc__,
                sqlite3.Cursor.execute.__doc__,
            )

        expected = "IMMEDIATE", "commit", sqlite3.Connection.commit.__doc__, sqlite3.Cursor.execute.__doc__
        assert run(body).value == expected

    def test_the_types_are_immutable_again(self, run: Callable[..., Ended]) -> None:
        def body(connection: sqlite3.Connection, tracker: Tracker) -> None:
            for kind in (sqlite3.Connection, sqlite3.Cursor):
                with pytest.raises(TypeError, match="immutable"):
                    kind.commit = None  # type: ignore[union-attr,method-assign]

        assert run(body).raised is None


def test_it_says_whether_it_is_exact(lives: Lives, monkeypatch: pytest.MonkeyPatch) -> None:
    probes: list[Sqlite3] = []
    lives.probe = lambda: probes.append(Sqlite3()) or probes[-1]  # type: ignore[func-returns-value]
    assert lives.run(lambda tracker: probes[0].exact).value is True
    monkeypatch.setattr(Library, "found", lambda: None)
    assert lives.run(lambda tracker: probes[0].exact).value is False
