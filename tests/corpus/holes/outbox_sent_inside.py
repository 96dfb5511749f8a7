"""The mail leaves inside the transaction that may still fail: mail for an order that doesn't exist."""

import sqlite3

from tools import create, database, rows, send_once

MARKER = {"crash": "sqlite3.commit", "error": {"sqlite3.commit": sqlite3.OperationalError("disk I/O error")}}
FAILS = {"sqlite3.commit:enter+1:crash", "sqlite3.commit:enter+1:error"}


def broken(path, effects):
    with database(path) as db:
        try:
            db.execute("INSERT INTO orders VALUES ('o-1')")
            send_once(effects, "o-1")
            db.commit()
        except sqlite3.OperationalError:
            db.rollback()


def correct(path, effects):
    with database(path) as db:
        try:
            db.execute("INSERT INTO orders VALUES ('o-1')")
            db.commit()
        except sqlite3.OperationalError:
            db.rollback()
        for (order,) in db.execute("SELECT id FROM orders").fetchall():
            send_once(effects, order)


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id)")
    crashwindow.run(program, path, crashwindow.effects)
    assert set(crashwindow.effects.keys("mail")) <= set(rows(path, "SELECT id FROM orders"))
