"""A mail is sent, then the order is marked: a death in between sends it twice."""

from tools import create, database, send, send_once

MARKER = {}
FAILS = {"sqlite3.commit:enter+1:crash"}


def run(path, effects, send):
    with database(path) as db:
        for (order,) in db.execute("SELECT id FROM orders WHERE mailed = 0").fetchall():
            send(effects, order)
            db.execute("UPDATE orders SET mailed = 1 WHERE id = ?", [order])
            db.commit()


def broken(path, effects):
    run(path, effects, send)


def correct(path, effects):
    run(path, effects, send_once)


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id, mailed); INSERT INTO orders VALUES ('o-1', 0)")
    crashwindow.supervise(program, path, crashwindow.effects)
    assert crashwindow.effects.keys("mail") == ["o-1"]
