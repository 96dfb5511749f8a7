"""Money leaves one account in one transaction and reaches the other in the next."""

from tools import create, database, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "sqlite3.commit:enter+2:crash"}


def transfer(path, in_between):
    with database(path) as db:
        if db.execute("UPDATE account SET balance = balance - 10 WHERE id = 'a' AND balance >= 10").rowcount:
            in_between(db)
            db.execute("UPDATE account SET balance = balance + 10 WHERE id = 'b'")
            db.commit()


def broken(path):
    transfer(path, lambda db: db.commit())


def correct(path):
    transfer(path, lambda db: None)


def scenario(crashwindow, disk, program):
    path = disk / "bank.db"
    create(path, "CREATE TABLE account (id, balance); INSERT INTO account VALUES ('a', 10), ('b', 0)")
    crashwindow.supervise(program, path)
    assert rows(path, "SELECT sum(balance) FROM account") == [10]
