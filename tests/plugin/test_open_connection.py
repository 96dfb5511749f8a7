"""A database connection that is open when a life is forked is an error that names where it was opened."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow.errors import OpenConnection

from .conftest import Run


def test_the_error_names_file_and_line_where_it_was_opened(run: Run) -> None:
    result = run(
        """
        import sqlite3, pytest

        @pytest.fixture
        def database(crashwindow, tmp_path):
            connection = sqlite3.connect(tmp_path / "db")  # line 5
            connection.execute("CREATE TABLE t (x)")
            yield connection
            connection.close()

        def test_it(crashwindow, database):
            crashwindow.run(print)
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       crashwindow.run(print)",
            "E *OpenConnection: a database connection is open (*/db, opened at *test_it.py:5), and a life is to be *",
        ]
    )


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE IF NOT EXISTS t (x)")
    return connection


def test_one_that_was_opened_in_the_test_body(crashwindow: Any, tmp_path: Path) -> None:
    connection = opened(tmp_path / "db")
    with pytest.raises(OpenConnection, match=rf"opened at {__file__}:\d+"):
        crashwindow.run(print)
    connection.close()
    assert crashwindow.run(print).outcome == "returned"


def test_one_of_a_database_that_is_still_empty(crashwindow: Any, tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "new")
    with pytest.raises(OpenConnection, match=rf"opened at {__file__}:\d+"):
        crashwindow.run(print)
    connection.close()
    assert crashwindow.run(print).outcome == "returned"


def test_one_by_a_subclass_or_factory(crashwindow: Any, tmp_path: Path) -> None:
    class Own(sqlite3.Connection):
        pass

    connection = sqlite3.connect(tmp_path / "db", factory=Own)
    connection.execute("CREATE TABLE t (x)")
    with pytest.raises(OpenConnection, match=rf"opened at {__file__}:\d+"):
        crashwindow.run(print)
    connection.close()


def test_one_by_a_uri(crashwindow: Any, tmp_path: Path) -> None:
    opened(tmp_path / "a b").close()
    connection = sqlite3.connect(f"file:{tmp_path}/a%20b?mode=rw", uri=True)
    connection.execute("SELECT * FROM t").fetchall()
    with pytest.raises(OpenConnection, match=rf"opened at {__file__}:\d+"):
        crashwindow.run(print)
    connection.close()


def test_a_closed_one_and_one_in_memory_are_fine(crashwindow: Any, tmp_path: Path) -> None:
    opened(tmp_path / "db").close()
    memory = sqlite3.connect(":memory:")
    assert crashwindow.run(print).outcome == "returned"
    memory.close()


def test_only_the_open_one_is_named(crashwindow: Any, tmp_path: Path) -> None:
    closed, kept = opened(tmp_path / "closed"), opened(tmp_path / "open")
    closed.close()
    with pytest.raises(OpenConnection) as caught:
        crashwindow.run(print)
    assert str(tmp_path / "open") in str(caught.value)
    assert str(tmp_path / "closed") not in str(caught.value)
    kept.close()


def test_looking_for_it_keeps_its_locks(crashwindow: Any, tmp_path: Path) -> None:
    """To open and close the file anew would drop the POSIX locks of the whole process."""
    connection = opened(tmp_path / "db")
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(OpenConnection):
        crashwindow.run(print)
    # Its own process is asked, which has other locks than this one.
    import subprocess
    import sys

    code = f"import sqlite3; sqlite3.connect({str(tmp_path / 'db')!r}, timeout=0).execute('BEGIN IMMEDIATE')"
    tried = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "database is locked" in tried.stderr
    connection.close()


def test_connections_of_a_life_are_its_own_affair(crashwindow: Any, tmp_path: Path) -> None:
    def writes() -> list[Any]:
        connection = opened(tmp_path / "db")
        with connection:
            connection.execute("INSERT INTO t VALUES (1)")
        return connection.execute("SELECT * FROM t").fetchall()

    assert crashwindow.run(writes).value == [(1,)]


def test_the_type_is_as_it_was_after_the_test(run: Run) -> None:
    result = run(
        """
        import sqlite3

        before = sqlite3.Connection.__init__, dict(sqlite3.Connection.__dict__)

        def test_uses(crashwindow):
            crashwindow.run(print)

        def test_fails(crashwindow):
            crashwindow.run(print)
            assert False

        def test_after():
            assert sqlite3.Connection.__init__ is before[0] or sqlite3.Connection.__init__ == before[0]
            assert dict(sqlite3.Connection.__dict__) == before[1]
            try:
                sqlite3.Connection.new_attribute = 1
            except TypeError:
                pass
            else:
                raise AssertionError("the type was left mutable")
        """
    )
    result.assert_outcomes(passed=2, failed=1)


def test_one_of_a_fixture_that_comes_first_is_named(run: Run) -> None:
    result = run(
        """
        import sqlite3, pytest

        @pytest.fixture
        def database(tmp_path):
            yield sqlite3.connect(tmp_path / "db")  # line 5

        def test_it(database, crashwindow):
            crashwindow.run(print)

        @pytest.mark.crash_windows
        def test_sweep(database, crashwindow, tmp_path):
            crashwindow.run((tmp_path / "done").touch)
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "E *OpenConnection: *db, opened at *test_it.py:5), and a life is*",
            "*db, opened at *test_it.py:5), and the sweep*",
        ]
    )


def test_an_empty_database_behind_a_link_that_is_gone_is_open_all_the_same(run: Run) -> None:
    source = """
        import sqlite3, sys, pytest

        @pytest.fixture
        def db(tmp_path):
            (tmp_path / "1").mkdir()
            (tmp_path / "current").symlink_to("1")
            connection = sqlite3.connect(tmp_path / "current" / "q.db")
            (tmp_path / "current").unlink()
            yield connection
            connection.close()

        @pytest.mark.crash_windows("work.*")
        def test_work(db, crashwindow):
            crashwindow.run(sys.audit, "work.a")
        """
    result = run(source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["a database connection is open (*/1/q.db, opened at *test_it.py:7)*"])


def test_a_connection_in_memory_needs_no_working_directory(run: Run) -> None:
    source = """
        import os, sqlite3

        def test_it(crashwindow, tmp_path):
            (tmp_path / "gone").mkdir()
            os.chdir(tmp_path / "gone")
            (tmp_path / "gone").rmdir()
            sqlite3.connect(":memory:").close()
            assert crashwindow.run(int).value == 0
        """
    run(source).assert_outcomes(passed=1)
