"""What the report is shown with: an order service with two holes, and a writer of settings without one."""

import sqlite3
import sys

import pytest

LEASE = 30.0


class Shop:
    def __init__(self, tmp_path, effects, clock):
        self.path = tmp_path / "shop.db"
        self.effects, self.clock = effects, clock
        with self.db() as db:
            db.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT, total INTEGER)")
            db.execute("CREATE TABLE outbox (id INTEGER PRIMARY KEY, order_id TEXT, sent INTEGER DEFAULT 0)")
            db.execute("CREATE TABLE jobs (id TEXT PRIMARY KEY, owner TEXT, until REAL, result TEXT)")
            db.execute("INSERT INTO jobs VALUES ('report', NULL, 0, NULL)")
        db.close()

    def db(self):
        return sqlite3.connect(self.path)

    def rows(self, table):
        db = self.db()
        db.row_factory = sqlite3.Row
        try:
            return [dict(row) for row in db.execute(f"SELECT * FROM {table}")]
        finally:
            db.close()


def send_mail(effects, order):
    effects.record("mail", order)


def place_order(shop, order):
    db = shop.db()
    with db:
        db.execute("INSERT OR IGNORE INTO orders VALUES (?, 'placed', 1250)", (order,))
    sys.audit("shop.order.committed", order)
    if not db.execute("SELECT 1 FROM outbox WHERE order_id = ?", (order,)).fetchone():
        send_mail(shop.effects, order)
        sys.audit("shop.mail.sent", order)
        with db:
            db.execute("INSERT INTO outbox (order_id, sent) VALUES (?, 1)", (order,))
    print(f"order {order} done")
    db.close()


def work(shop, owner):
    db = shop.db()
    with db:
        db.execute("UPDATE jobs SET owner = ?, until = ?", (owner, shop.clock() + LEASE))
    sys.audit("shop.job.claimed", owner)
    result = f"computed by {owner}"
    sys.audit("shop.job.computed", owner)
    with db:
        db.execute("UPDATE jobs SET result = ?", (result,))
    db.close()


@pytest.fixture
def shop(tmp_path, crashwindow):
    return Shop(tmp_path, crashwindow.effects, crashwindow.clock)


@pytest.mark.crash_windows(
    crash=["shop.*", "sqlite3.commit"],
    lost_ack="test_shop:send_mail",
    error="test_shop:send_mail",
    duplicate="test_shop:send_mail",
    calls=["test_shop:send_mail"],
)
def test_customer_gets_one_mail(crashwindow, shop):
    life = crashwindow.supervise(place_order, shop, "o-1")
    if life.outcome == "raised":
        life = crashwindow.run(place_order, shop, "o-1")
    crashwindow.observe("orders", shop.rows("orders"))
    crashwindow.observe("outbox", shop.rows("outbox"))
    assert shop.effects.keys("mail") == ["o-1"]


@pytest.mark.crash_windows(crash="shop.job.*", pause="shop.job.*")
def test_stale_worker_cannot_overwrite(crashwindow, shop):
    first = crashwindow.run(work, shop, "A", name="worker-A")
    crashwindow.observe("jobs", shop.rows("jobs"))
    crashwindow.clock.advance(LEASE + 1)
    crashwindow.run(work, shop, "B", name="worker-B")
    crashwindow.observe("jobs", shop.rows("jobs"))
    first.resume()
    crashwindow.observe("jobs", shop.rows("jobs"))
    assert shop.rows("jobs")[0]["result"] == "computed by B"


def save(path, text):
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


@pytest.mark.crash_windows
def test_settings_are_old_or_new(crashwindow, tmp_path):
    (tmp_path / "settings.toml").write_text("version = 1\n")
    crashwindow.run(save, tmp_path / "settings.toml", "version = 2\n")
    crashwindow.observe("settings.toml", (tmp_path / "settings.toml").read_text())
    assert (tmp_path / "settings.toml").read_text() in ("version = 1\n", "version = 2\n")


@pytest.mark.crash_at("shop.order.committed")
def test_order_survives(crashwindow, shop):
    assert crashwindow.run(place_order, shop, "o-7").crashed
    assert shop.rows("orders")
