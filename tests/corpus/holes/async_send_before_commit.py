"""The same in a coroutine: the answer of an awaited call is lost or the process dies after it."""

import asyncio

from tools import create, database, rows, send, send_once

CALL = "async_send_before_commit:publish"
MARKER = {"crash": [CALL, "sqlite3.*"], "lost_ack": CALL}
FAILS = {f"{CALL}:exit+1:crash", "sqlite3.commit:enter+1:crash", f"{CALL}:exit+1:lost_ack"}


async def publish(send, effects, order):
    await asyncio.sleep(0)
    send(effects, order)


async def run(path, effects, send):
    with database(path) as db:
        for (order,) in db.execute("SELECT id FROM orders WHERE sent = 0").fetchall():
            await publish(send, effects, order)
            db.execute("UPDATE orders SET sent = 1")
            db.commit()


async def broken(path, effects):
    await run(path, effects, send)


async def correct(path, effects):
    await run(path, effects, send_once)


def scenario(crashwindow, disk, program):
    path = disk / "shop.db"
    create(path, "CREATE TABLE orders (id, sent); INSERT INTO orders VALUES ('o-1', 0)")
    life = crashwindow.supervise(program, path, crashwindow.effects)
    if life.outcome == "raised":
        crashwindow.supervise(program, path, crashwindow.effects)
    assert rows(path, "SELECT sent FROM orders") == [1]
    assert crashwindow.effects.keys("mail") == ["o-1"]
