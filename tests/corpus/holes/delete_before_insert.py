"""A row is replaced by deleting it and inserting it, each for itself."""

import sqlite3
from contextlib import closing

from tools import create, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "sqlite3.commit:enter+2:crash"}


def broken(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("DELETE FROM price WHERE id = 'tea'")
        db.execute("INSERT INTO price VALUES ('tea', 3)")


def correct(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("INSERT OR REPLACE INTO price VALUES ('tea', 3)")


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE price (id UNIQUE, value); INSERT INTO price VALUES ('tea', 2)")
    crashwindow.run(program, path)
    assert rows(path, "SELECT count(*) FROM price") == [1]
