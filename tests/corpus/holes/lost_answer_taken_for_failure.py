"""No answer is taken for no effect: the order is cancelled though the card was charged."""

from tools import create, database, rows, send_once

CALL = "lost_answer_taken_for_failure:charge"
MARKER = {"lost_ack": CALL, "error": {CALL: TimeoutError}}
FAILS = {f"{CALL}:exit+1:lost_ack"}


def charge(effects):
    send_once(effects, "o-1", "charge")


def set_state(path, state):
    with database(path) as db:
        db.execute("UPDATE orders SET state = ?", [state])
        db.commit()


def broken(path, effects):
    try:
        charge(effects)
        set_state(path, "paid")
    except TimeoutError:
        set_state(path, "cancelled")


def correct(path, effects):
    try:
        charge(effects)
    except TimeoutError:
        if not effects.count("charge", "o-1"):  # ask the provider
            return set_state(path, "cancelled")
    return set_state(path, "paid")


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id, state); INSERT INTO orders VALUES ('o-1', 'new')")
    _ = crashwindow.run(program, path, crashwindow.effects).value
    charged = crashwindow.effects.count("charge")
    assert (rows(path, "SELECT state FROM orders"), charged) in ((["paid"], 1), (["cancelled"], 0))
