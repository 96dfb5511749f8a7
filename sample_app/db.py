"""Opening the databases: short-lived connections, durability set and read back.

A connection lives for one operation. None is kept at module level, so that a process may be
forked, killed or restarted at any time without inheriting one.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from .errors import DatabaseMissing, NotDurable, WrongSchema, explain

VERSIONS = {"app": 2, "receiver": 1, "tickets": 1}
FULL = 2  # what `PRAGMA synchronous` answers for FULL


def path_of(home: Path, name: str) -> Path:
    return home / f"{name}.db"


def app(home: Path) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    return _current(home, "app")


def receiver(home: Path) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    return _current(home, "receiver")


def tickets(home: Path) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    return _current(home, "tickets")


@contextlib.contextmanager
def connect(path: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A durable connection, closed at the end; errors of SQLite's come out as ours."""
    if not create and not path.exists():
        raise DatabaseMissing(f"no database at {path} (run `init` first)")
    try:
        with contextlib.closing(_open(path, create)) as conn:
            make_durable(conn, path)
            yield conn
    except sqlite3.Error as error:
        raise explain(error, path) from error


def make_durable(conn: sqlite3.Connection, path: object) -> None:
    """Ask for WAL and synchronous=FULL, and believe only what is read back."""
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("PRAGMA synchronous = FULL")
    journal = conn.execute("PRAGMA journal_mode").fetchone()[0]
    synchronous = conn.execute("PRAGMA synchronous").fetchone()[0]
    if journal != "wal":
        raise NotDurable(f"journal mode is {journal!r}, not 'wal', and cannot be changed: {path}")
    if synchronous != FULL:
        raise NotDurable(f"synchronous is {synchronous}, not {FULL} (FULL): {path}")


@contextlib.contextmanager
def transaction(conn: sqlite3.Connection) -> Iterator[None]:
    """One write transaction. IMMEDIATE: whoever waits, waits here, before having read anything."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
        conn.commit()
    except BaseException:  # a cancelled or interrupted one must not be left open either
        conn.rollback()
        raise


def init(home: Path) -> None:
    """Create what is missing. May be repeated, and resumed after a death at any instant."""
    home.mkdir(parents=True, exist_ok=True)
    for name in VERSIONS:
        with connect(path_of(home, name), create=True) as conn, transaction(conn):
            if version_of(conn) == 0:
                create_schema(conn, schema(name), VERSIONS[name])
            sys.audit("sample_app.database.before_commit", name)
        sys.audit("sample_app.database.created", name)


def create_schema(conn: sqlite3.Connection, script: str, version: int) -> None:
    for statement in statements(script):
        conn.execute(statement)
    conn.execute(f"PRAGMA user_version = {version}")  # part of the transaction, like any page


def version_of(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def schema(name: str) -> str:
    """The part of schema.sql that belongs to one database."""
    text = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
    parts = re.split(r"^-- database: (\w+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[name]


def statements(script: str) -> Iterator[str]:
    # executescript() would commit first, and a schema has to appear whole or not at all.
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def busy_seconds() -> float:
    return float(os.environ.get("SAMPLE_APP_BUSY_SECONDS", "5"))


def _open(path: Path, create: bool) -> sqlite3.Connection:
    mode = "rwc" if create else "rw"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    conn = sqlite3.connect(uri, uri=True, timeout=busy_seconds(), isolation_level=None)
    conn.row_factory = sqlite3.Row
    conn.execute("PRAGMA foreign_keys = ON")
    return conn


@contextlib.contextmanager
def _current(home: Path, name: str) -> Iterator[sqlite3.Connection]:
    path = path_of(home, name)
    with connect(path) as conn:
        _check_version(version_of(conn), VERSIONS[name], path)
        yield conn


def _check_version(found: int, wanted: int, path: Path) -> None:
    if found > wanted:
        raise WrongSchema(f"schema version {found} is newer than this code ({wanted}): {path}")
    if found < wanted:
        remedy = "migrate" if found else "init"
        raise WrongSchema(f"schema version {found} is older than {wanted}: `{remedy}` {path}")
