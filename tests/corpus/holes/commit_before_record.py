"""The order is committed first and written to the outbox in a second step: its mail may never leave."""

from tools import create, database, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "sqlite3.commit:enter+2:crash"}


def place(db):
    db.execute("INSERT INTO orders VALUES ('o-1')")


def note(db):
    db.execute("INSERT INTO outbox VALUES ('o-1')")


def broken(path):
    with database(path) as db:
        place(db)
        db.commit()
        note(db)
        db.commit()


def correct(path):
    with database(path) as db:
        place(db)
        note(db)
        db.commit()


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id); CREATE TABLE outbox (id)")
    crashwindow.run(program, path)
    assert rows(path, "SELECT id FROM orders") == rows(path, "SELECT id FROM outbox")
