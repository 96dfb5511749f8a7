"""A ticket is asked for over HTTP before the database knows of it."""

from http.client import HTTPConnection

from tools import create, database, http_server, send, send_once, served

MARKER = {}
FAILS = {"http.request:exit+1:crash", "sqlite3.commit:enter+1:crash"}


def run(path, port, key):
    with database(path) as db:
        for (order,) in db.execute("SELECT id FROM orders WHERE ticket = 0").fetchall():
            connection = HTTPConnection("127.0.0.1", port)
            connection.request("POST", "/tickets", order, {"Idempotency-Key": key(order)})
            connection.getresponse().read()
            connection.close()
            db.execute("UPDATE orders SET ticket = 1 WHERE id = ?", [order])
            db.commit()


def broken(path, port):
    run(path, port, lambda order: "")


def correct(path, port):
    run(path, port, lambda order: f"ticket-of-{order}")


def scenario(crashwindow, disk, program):
    effects = crashwindow.effects
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id, ticket); INSERT INTO orders VALUES ('o-1', 0)")
    with served(http_server(lambda key: (send_once if key else send)(effects, key, "ticket"))) as port:
        crashwindow.supervise(program, path, port)
    assert effects.count("ticket") == 1
