"""A migration says in its first transaction that it has been made, and fills the new column in the second."""

from tools import create, database, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "sqlite3.commit:enter+2:crash"}


def migrate(path, in_between):
    with database(path) as db:
        if db.execute("PRAGMA user_version").fetchone() == (1,):
            return
        db.execute("BEGIN")
        db.execute("ALTER TABLE person ADD COLUMN name")
        db.execute("PRAGMA user_version = 1")
        in_between(db)
        db.execute("UPDATE person SET name = first || ' ' || last")
        db.commit()


def broken(path):
    migrate(path, lambda db: db.commit())


def correct(path):
    migrate(path, lambda db: None)


def scenario(crashwindow, disk, program):
    path = disk / "people.db"
    create(path, "CREATE TABLE person (first, last); INSERT INTO person VALUES ('Ada', 'Lovelace')")
    crashwindow.supervise(program, path)
    assert rows(path, "SELECT name FROM person") == ["Ada Lovelace"]
