"""A reservation is given back in `finally`, which a process that is killed never reaches."""

import sys

from tools import create, database, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "seat.asked+1:crash", "sqlite3.commit:enter+2:crash"}


def update(path, change, *values):
    with database(path) as db:
        db.execute(change, values)
        db.commit()


def broken(path, life):
    update(path, "UPDATE seats SET free = free - 1")
    try:
        sys.audit("seat.asked")
    finally:
        update(path, "UPDATE seats SET free = free + 1")


def correct(path, life):
    update(path, "UPDATE seats SET free = 1")  # nobody else can hold one when this process begins
    sys.audit("seat.asked")


def scenario(crashwindow, disk, program):
    path = disk / "seats.db"
    create(path, "CREATE TABLE seats (free); INSERT INTO seats VALUES (1)")
    crashwindow.supervise(program, path, "life")
    assert rows(path, "SELECT free FROM seats") == [1]
