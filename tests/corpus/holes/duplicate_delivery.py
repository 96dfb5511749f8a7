"""A transport that delivers at least once, and a receiver without an inbox."""

from tools import create, database, rows

MARKER = {"duplicate": "duplicate_delivery:deliver"}
FAILS = {"duplicate_delivery:deliver:enter+1:duplicate"}


def deliver(handle, message, path):
    with database(path) as db:
        handle(db, message)
        db.commit()


def add(db, message):
    db.execute("UPDATE account SET balance = balance + 10")


def add_once(db, message):
    if db.execute("INSERT OR IGNORE INTO inbox VALUES (?)", [message]).rowcount:
        add(db, message)


def broken(path):
    deliver(add, "m-1", path)


def correct(path):
    deliver(add_once, "m-1", path)


def scenario(crashwindow, disk, program):
    path = disk / "bank.db"
    create(path, "CREATE TABLE account (balance); CREATE TABLE inbox (id UNIQUE); INSERT INTO account VALUES (0)")
    _ = crashwindow.run(program, path).value
    assert rows(path, "SELECT balance FROM account") == [10]
