"""Approvals, migration, retention, backup, status, dead letters."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sample_app import (
    approvals,
    backup,
    cancel,
    cli,
    db,
    dead_letters,
    editing,
    events,
    information,
    intents,
    jobs,
    migrations,
    outbox,
    pages,
    reaper,
    receiver,
    reports,
    retention,
    retry,
    status,
    worker,
)
from sample_app.demo import Hands
from sample_app.errors import Refused
from sample_app.payloads import Payload, key_of
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import ledger

DiesAt = Callable[[str, Callable[[], object]], bool]
Serve = Callable[..., TicketClient]


def finished(home: Path, payload: Payload, clock: Hands) -> int:
    job_id = jobs.register(home, key_of(payload), payload, clock()).job_id
    worker.work_once(home, "A", clock)
    return job_id


def ask(home: Path, job_id: int, now: float = 0, ttl: float = 100) -> sqlite3.Row:
    approvals.set_person(home, "bo", "secret", True)
    return approvals.get(home, approvals.request(home, job_id, "ada", "bo", now, ttl))


def say_yes(home: Path, row: sqlite3.Row, now: float = 1, **changes: Any) -> str:
    values: dict[str, Any] = {
        "person": "bo",
        "token": "secret",
        "approve": True,
        "report_version": row["report_version"],
        "action_hash": row["action_hash"],
        "now": now,
        **changes,
    }
    return approvals.answer(home, row["request_id"], **values)


def test_waiting_holds_no_worker(home: Path, payload: Payload, clock: Hands) -> None:
    row = ask(home, finished(home, payload, clock))
    assert jobs.claim(home, "A", 1) is None
    assert jobs.next_due(home) is None
    assert say_yes(home, row) == "approved"
    claim = jobs.claim(home, "A", 1)
    assert claim
    assert claim.kind == "publish"


def test_asking_and_answering_twice_is_once(home: Path, payload: Payload, clock: Hands) -> None:
    job_id = finished(home, payload, clock)
    row = ask(home, job_id)
    assert ask(home, job_id)["request_id"] == row["request_id"]
    assert say_yes(home, row) == say_yes(home, row) == "approved"


@pytest.mark.parametrize(
    "changes",
    [
        {"token": "guess"},
        {"person": "eve"},
        {"report_version": 2},
        {"action_hash": "other"},
        {"now": 100},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    home: Path, payload: Payload, clock: Hands, changes: dict[str, Any]
) -> None:
    row = ask(home, finished(home, payload, clock))
    with pytest.raises(Refused):
        say_yes(home, row, **changes)
    assert approvals.get(home, row["request_id"])["state"] == "pending"


def test_an_edit_makes_the_answer_void(home: Path, payload: Payload, clock: Hands, serve: Serve) -> None:
    job_id = finished(home, payload, clock)
    row = ask(home, job_id)
    say_yes(home, row)
    assert editing.edit(home, job_id, "edited", 2) == 2
    assert worker.work_once(home, "A", clock, worker.Tools(serve())) is None
    assert approvals.get(home, row["request_id"])["state"] == "superseded"
    assert jobs.get(home, row["publish_job_id"])["state"] == "cancelled"
    with pytest.raises(Refused):
        say_yes(home, row)
    say_yes(home, ask(home, job_id))
    worker.work_once(home, "A", clock, worker.Tools(serve()))
    assert [ticket["body"] for ticket in ledger(home)] == ["edited"]
    assert events.differences(home) == []


@pytest.mark.parametrize("point", ["sample_app.job.claimed", "sample_app.intent.committed"])
def test_an_edit_while_a_worker_is_at_it_stops_the_action(
    home: Path, payload: Payload, clock: Hands, serve: Serve, dies_at: DiesAt, point: str
) -> None:
    job_id = finished(home, payload, clock)
    row = ask(home, job_id)
    say_yes(home, row)
    tools = worker.Tools(serve())
    assert dies_at(point, lambda: worker.work_once(home, "A", clock, tools))
    editing.edit(home, job_id, "edited", 2)
    clock.now = 40
    worker.work_once(home, "B", clock, tools)
    assert jobs.get(home, row["publish_job_id"])["state"] == "cancelled"
    assert ledger(home) == []
    assert events.differences(home) == []


@pytest.mark.parametrize("why", ["expired", "permission"])
def test_expiry_and_permission_are_judged_on_resume(
    home: Path, payload: Payload, clock: Hands, serve: Serve, why: str
) -> None:
    job_id = finished(home, payload, clock)
    row = ask(home, job_id)
    say_yes(home, row)
    if why == "expired":
        clock.now = 100
    else:
        approvals.set_person(home, "bo", "secret", False)
    worker.work_once(home, "A", clock, worker.Tools(serve()))
    assert jobs.get(home, row["publish_job_id"])["state"] == "needs_info"
    assert ledger(home) == []
    again = ask(home, job_id, now=101)
    assert again["publish_job_id"] == row["publish_job_id"]
    if why == "expired":
        say_yes(home, again, now=102)
        clock.now = 103
        worker.work_once(home, "A", clock, worker.Tools(serve()))
        assert jobs.get(home, row["publish_job_id"])["state"] == "done"
    assert events.differences(home) == []


def test_rejected_is_over(home: Path, payload: Payload, clock: Hands) -> None:
    row = ask(home, finished(home, payload, clock))
    assert say_yes(home, row, approve=False) == "rejected"
    assert jobs.get(home, row["publish_job_id"])["state"] == "cancelled"
    assert events.differences(home) == []


def make_v1(home: Path) -> None:
    """Turn the (empty) app.db into one of version 1."""
    path = db.path_of(home, "app")
    path.unlink()
    with db.connect(path, create=True) as conn, db.transaction(conn):
        db.create_schema(conn, migrations.schema_v1(), 1)
        for job_id, request in enumerate(({"currency": "EUR"}, {"text": "invoice of 1,200.50 CHF"}, {}), start=1):
            payload = {"customer": "c", "period": "p", "owner": "o", "amount": 5, **request}
            conn.execute(
                "INSERT INTO jobs (kind, task_key, payload, payload_hash, amount, claim_limit,"
                " worker_version, prompt_version, schema_version, input_digest, registered_at)"
                " VALUES ('report', ?, ?, 'h', 5, 50, '0', '0', '1', 'd', 0)",
                (f"k{job_id}", json.dumps(payload)),
            )
            events.append(conn, job_id, "job.registered", 0, key=f"k{job_id}")


MIGRATION_POINTS = [
    "sample_app.migration.altered",
    "sample_app.migration.job_migrated",
    "sample_app.migration.job_migrated+3",
    "sample_app.migration.before_commit",
    "sample_app.migration.committed",
]


@pytest.mark.parametrize("point", MIGRATION_POINTS)
def test_a_death_in_a_migration_leaves_the_old_or_the_new(home: Path, dies_at: DiesAt, point: str) -> None:
    make_v1(home)
    assert dies_at(point, lambda: migrations.migrate(home, 1))
    with db.connect(db.path_of(home, "app")) as conn:
        columns = [row["name"] for row in conn.execute("PRAGMA table_info(jobs)")]
        assert (db.version_of(conn) == 2) == ("currency" in columns)
        assert (db.version_of(conn) == 2) == point.endswith("migration.committed")
    migrations.migrate(home, 1)
    rows = jobs.everything(home)
    assert [row["currency"] for row in rows] == ["EUR", "CHF", None]
    assert [row["state"] for row in rows] == ["pending", "pending", "needs_info"]
    assert {row["worker_version"] for row in rows} == {"0"}
    assert events.differences(home) == []


def test_told_currency_lets_the_job_go_on(home: Path, clock: Hands) -> None:
    make_v1(home)
    migrations.migrate(home, 1)
    assert information.tell_currency(home, 3, "USD", 2) == "pending"
    clock.now = 3
    for _ in range(3):
        worker.work_once(home, "A", clock)
    report = reports.latest(home, 3)
    assert report
    assert report["body"].endswith("0.05 USD")


def test_a_changed_meaning_asks_for_approval_anew(home: Path, payload: Payload, clock: Hands, serve: Serve) -> None:
    job_id = finished(home, payload, clock)
    row = ask(home, job_id)
    say_yes(home, row)
    # As a version 1 that never told the currency: approved, not yet published.
    told = {key: value for key, value in payload.items() if key != "currency"}
    with db.connect(db.path_of(home, "app")) as conn, db.transaction(conn):
        conn.execute("ALTER TABLE jobs DROP COLUMN currency")
        conn.execute("PRAGMA user_version = 1")
        conn.execute("UPDATE jobs SET payload = ? WHERE job_id = ?", (json.dumps(told), job_id))
    migrations.migrate(home, 1)
    publish_id = row["publish_job_id"]
    assert approvals.get(home, row["request_id"])["state"] == "superseded"
    assert jobs.get(home, publish_id)["state"] == "needs_info"
    with pytest.raises(Refused, match="currency"):
        ask(home, job_id)
    information.tell_currency(home, job_id, "CHF", 2)
    again = ask(home, job_id, now=2)
    assert again["publish_job_id"] == publish_id
    assert again["report_version"] == row["report_version"]
    assert again["action_hash"] != row["action_hash"]
    say_yes(home, again, now=3)
    clock.now = 3
    worker.work_once(home, "A", clock, worker.Tools(serve()))
    assert "CHF" in ledger(home)[0]["title"]
    assert events.differences(home) == []


def test_retention_is_longer_than_every_source_of_repeats(home: Path) -> None:
    policy = retention.Policy()
    with pytest.raises(Refused, match="kept for more than"):
        retention.purge(home, policy.compensation_period, 1e9)


def test_purge_keeps_what_could_come_again(home: Path, payload: Payload, clock: Hands) -> None:
    finished(home, payload, clock)
    [event] = outbox.pending(home)
    keep = retention.Policy().keep + 1
    assert retention.purge(home, keep, 1e9).refused == {event["event_id"]: "not delivered yet"}
    outbox.dispatch_once(home, clock)
    assert retention.purge(home, keep, keep).forgotten == []
    assert retention.purge(home, keep, 1e9).forgotten == [event["event_id"]]
    assert receiver.inbox(home) == []


@pytest.mark.parametrize("point", ["sample_app.purge.before_commit", "sample_app.purge.sender_forgot"])
def test_a_death_in_a_purge_leaves_no_event_without_its_key(
    home: Path, payload: Payload, clock: Hands, dies_at: DiesAt, point: str
) -> None:
    finished(home, payload, clock)
    outbox.dispatch_once(home, clock)
    keep = retention.Policy().keep + 1
    assert dies_at(point, lambda: retention.purge(home, keep, 1e9))
    assert len(receiver.inbox(home)) == 1
    assert len(retention.purge(home, keep, 1e9).forgotten) == 1


def test_a_backup_is_whole_while_others_write(home: Path, payload: Payload, clock: Hands, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            jobs.register(home, f"k{number}", payload, 0)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(5):
            counts = backup.backup(home, target)
            assert counts["jobs"] == counts["events"]
    finally:
        stop.set()
        thread.join()
    assert backup.verify(target) == counts
    assert not target.with_name("copy.db-wal").exists()


def test_a_damaged_backup_is_noticed(home: Path, payload: Payload, tmp_path: Path) -> None:
    for number in range(200):
        jobs.register(home, f"k{number}", payload, 0)
    target = tmp_path / "copy.db"
    backup.backup(home, target)
    content = bytearray(target.read_bytes())
    content[8192:40960] = b"\xff" * (40960 - 8192)
    target.write_bytes(content)
    with pytest.raises(backup.BadBackup, match="damaged"):
        backup.verify(target)


def test_status_shows_a_reader_that_holds_the_wal(home: Path, payload: Payload) -> None:
    jobs.register(home, "k", payload, 5)
    with db.app(home) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM jobs").fetchall()
        for number in range(50):
            jobs.register(home, f"k{number}", payload, 5)
        found = status.status(home, 25)
        reader.execute("COMMIT")
    assert found.wal_bytes > 100_000
    assert found.oldest_pending_age == 20
    assert found.jobs == {"pending": 51}


def test_status_shows_expired_leases(home: Path, payload: Payload) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    jobs.claim(home, "A", 0)
    assert status.status(home, 29).expired_leases == []
    assert status.status(home, 30).expired_leases == [job_id]


def test_a_dead_job_is_kept_with_its_reason_and_can_be_requeued(
    home: Path, payload: Payload, clock: Hands, dies_at: DiesAt
) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    for _ in range(jobs.CLAIM_LIMIT):
        clock.now = 40 * _
        jobs.claim(home, "A", clock())
    assert reaper.reap(home, clock() + 30) == [job_id]
    [letter] = dead_letters.letters(home)
    assert letter["reason"] == f"claimed {jobs.CLAIM_LIMIT} times"
    for point in ("sample_app.dead_letter.requeued", "sample_app.dead_letter.before_commit"):
        assert dies_at(point, lambda: dead_letters.requeue(home, job_id, clock()))
        assert len(dead_letters.letters(home)) == 1
    dead_letters.requeue(home, job_id, clock())
    assert dead_letters.letters(home) == []
    claim = jobs.claim(home, "A", clock() + 1)
    assert claim
    assert claim.generation == jobs.CLAIM_LIMIT + 1
    assert events.differences(home) == []


def test_the_reaper_looks_again_before_it_acts(home: Path, payload: Payload) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    jobs.claim(home, "A", 0)
    [seen] = reaper.expired(home, 30)
    jobs.heartbeat(home, job_id, 1, 30)
    assert not reaper._reap_one(home, seen, 30)
    assert reaper.reap(home, 60) == [job_id]
    assert jobs.get(home, job_id)["state"] == "pending"


def test_backoff_doubles_is_jittered_and_reproducible() -> None:
    delays = [retry.backoff(1, failures) for failures in range(1, 12)]
    assert delays == [retry.backoff(1, failures) for failures in range(1, 12)]
    assert retry.backoff(1, 1) != retry.backoff(2, 1)
    for failures, delay in enumerate(delays, start=1):
        full = min(retry.LONGEST_DELAY, 2.0 ** (failures - 1))
        assert full / 2 <= delay <= full


def test_cancel_before_anything_started(home: Path, payload: Payload) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    assert cancel.cancel(home, job_id, 1) == cancel.cancel(home, job_id, 2) == "cancelled"
    assert jobs.claim(home, "A", 3) is None
    assert events.differences(home) == []


@pytest.mark.parametrize("point", ["sample_app.cancel.requested", "sample_app.cancel.before_closed"])
def test_a_stop_request_survives_a_death(
    home: Path, payload: Payload, clock: Hands, dies_at: DiesAt, point: str
) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    jobs.claim(home, "A", 0)
    assert dies_at(point, lambda: cancel.cancel(home, job_id, 1))
    assert jobs.get(home, job_id)["state"] == "running"
    assert not reports.finish(home, job_id, 1, "late", 2)
    worker.run_until_idle(home, "B", clock)
    assert jobs.get(home, job_id)["state"] == "cancelled"


def test_a_reader_finds_only_published_versions(home: Path) -> None:
    pages.fence(home, "p", 1, 7, 0)
    assert pages.read(home, "p") is None
    assert not pages.write(home, "p", 1, 6, "late", 0)


# one clear line and a non-zero exit ----------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str]:
    code = cli.main([str(argument) for argument in argv])
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    return code, error


def test_older_schema(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    make_v1(home)
    assert "`migrate`" in run(capsys, "work", home)[1]


def test_not_a_database(capsys: pytest.CaptureFixture[str], home: Path) -> None:
    db.path_of(home, "app").write_text("something else, and long enough to be looked at " * 99)
    assert "not a SQLite database" in run(capsys, "status", home)[1]


def test_the_states_in_the_schema_are_those_of_the_moves() -> None:
    from sample_app.states import MOVES

    reached = {move.to for move in MOVES.values()} | {"pending"}
    left = set[str]().union(*(move.sources for move in MOVES.values()))
    assert left <= reached
    schema = db.schema("app")
    assert all(f"'{state}'" in schema for state in reached)


def test_a_taken_back_intent_keeps_its_operation_id(home: Path, clock: Hands, publishable: int) -> None:
    worker.work_once(home, "A", clock, worker.Tools(TicketClient("http://127.0.0.1:9")))
    before = intents.of_job(home, publishable)
    clock.now = 5
    worker.work_once(home, "A", clock, worker.Tools(TicketClient("http://127.0.0.1:9")))
    after = intents.of_job(home, publishable)
    assert before
    assert after
    assert before.operation_id == after.operation_id
