"""A consumer that knows in memory what it has handled: after a restart it knows nothing."""

from tools import create, database, rows

MARKER = {}
FAILS = {"sqlite3.commit:exit+1:crash", "os.remove:enter+1:crash"}


def broken(disk, seen=frozenset()):
    with database(disk / "bank.db") as db:
        for message in sorted(disk.glob("*.message")):
            if message.name not in seen:
                db.execute("UPDATE account SET balance = balance + 10")
                db.commit()
                seen |= {message.name}
            message.unlink()


def correct(disk):
    with database(disk / "bank.db") as db:
        for message in sorted(disk.glob("*.message")):
            if db.execute("INSERT OR IGNORE INTO inbox VALUES (?)", [message.name]).rowcount:
                db.execute("UPDATE account SET balance = balance + 10")
                db.commit()
            message.unlink()


def scenario(crashwindow, disk, program):
    create(disk / "bank.db", "CREATE TABLE account (balance); CREATE TABLE inbox (id UNIQUE)")
    create(disk / "bank.db", "INSERT INTO account VALUES (0)")
    (disk / "1.message").touch()
    crashwindow.supervise(program, disk)
    assert rows(disk / "bank.db", "SELECT balance FROM account") == [10]
