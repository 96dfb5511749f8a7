"""What a failure looks like: each hint, from a program that has such a window."""

import sqlite3
import sys
from contextlib import closing

import pytest

sweep = pytest.mark.crash_windows


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript("CREATE TABLE orders (id); CREATE TABLE paid (id);")
    return path


def insert(path, table, point=None):
    with closing(sqlite3.connect(path)) as db:
        if db.execute(f"SELECT 1 FROM {table}").fetchone():
            return False
        db.execute(f"INSERT INTO {table} VALUES ('o-1')")
        db.commit()
    if point:
        sys.audit(point)
    return True


def count(path, table):
    with closing(sqlite3.connect(path)) as db:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices"
    path.write_text("apples 2")
    return path


@sweep("open:exit")
def test_written_in_place(crashwindow, prices):
    crashwindow.run(prices.write_text, "apples 3")
    assert prices.read_text()


@sweep("open:exit")
def test_written_in_place_and_not_restarted(crashwindow, tmp_path):
    crashwindow.run((tmp_path / "prices").write_text, "apples 3")
    assert (tmp_path / "prices").read_text() == "apples 3"


def save(path, text):
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").replace(path)


@sweep("open:exit")
def test_written_beside_and_not_restarted(crashwindow, prices):
    crashwindow.run(save, prices, "apples 3")
    assert prices.read_text() == "apples 3"


@sweep("file.write:exit")
def test_mark_before_work(crashwindow, tmp_path):
    def load(mark):
        if not mark.exists():
            mark.write_text("o-1")
            crashwindow.effects.record("load", "o-1")

    crashwindow.supervise(load, tmp_path / "mark")
    assert crashwindow.effects.keys("load") == ["o-1"]


@sweep("shop.acknowledged")
def test_consumer_without_inbox(crashwindow, db):
    def consume():
        crashwindow.effects.record("mail", "o-1")
        insert(db, "orders")
        sys.audit("shop.acknowledged")

    crashwindow.supervise(consume)
    assert crashwindow.effects.keys("mail") == ["o-1"]


@sweep("shop.mailed")
def test_effect_before_its_record(crashwindow, db):
    def mail():
        if not count(db, "orders"):
            crashwindow.effects.record("mail", "o-1")
            sys.audit("shop.mailed")
            insert(db, "orders")

    crashwindow.supervise(mail)
    assert crashwindow.effects.keys("mail") == ["o-1"]


@sweep("shop.stored")
def test_record_before_its_effect(crashwindow, db):
    def order():
        if insert(db, "orders", "shop.stored"):
            crashwindow.effects.record("mail", "o-1")

    crashwindow.supervise(order)
    assert crashwindow.effects.keys("mail") == ["o-1"]


@sweep("shop.stored")
def test_two_transactions(crashwindow, db):
    def order():
        if insert(db, "orders", "shop.stored"):
            insert(db, "paid")

    crashwindow.supervise(order)
    assert count(db, "orders") == count(db, "paid")


def send(crashwindow):
    crashwindow.effects.record("mail", "o-1")


@sweep(lost_ack="kinds:send")
def test_lost_answer(crashwindow):
    def with_retry():
        try:
            send(crashwindow)
        except TimeoutError:
            send(crashwindow)

    crashwindow.run(with_retry)
    assert crashwindow.effects.keys("mail") == ["o-1"]


@sweep(duplicate="kinds:send")
def test_delivered_twice(crashwindow):
    crashwindow.run(send, crashwindow)
    assert crashwindow.effects.keys("mail") == ["o-1"]


@sweep(pause="shop.computed")
def test_stale_worker(crashwindow):
    def worker(name):
        sys.audit("shop.computed")
        crashwindow.effects.record("result", name)

    first = crashwindow.run(worker, "first")
    crashwindow.run(worker, "second")
    first.resume()
    assert crashwindow.effects.keys("result") == ["first", "second"]


@sweep("shop.begun", depth=2)
def test_crash_in_recovery(crashwindow):
    crashwindow.supervise(sys.audit, "shop.begun")
    assert len(crashwindow.lives) < 3
