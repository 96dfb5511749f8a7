"""Jobs, leases, commit, outbox, receiver: what holds without any death."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from sample_app import db, jobs, outbox, receiver, reports, worker
from sample_app.demo import Hands
from sample_app.errors import Conflict, SafeToRetry
from sample_app.payloads import Payload, key_of

DiesAt = Callable[[str, Callable[[], object]], bool]


def submit(home: Path, payload: Payload) -> int:
    return jobs.register(home, key_of(payload), payload, 0).job_id


def facts(home: Path) -> tuple[int, int, int, int]:
    """Done jobs, reports, events, inbox."""
    done = sum(row["state"] == "done" for row in jobs.everything(home))
    with db.app(home) as conn:
        made, sent = conn.execute("SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM outbox)").fetchone()
    return done, made, sent, len(receiver.inbox(home))


def test_wal_and_full_are_read_back(home: Path) -> None:
    for name in db.VERSIONS:
        with db.connect(db.path_of(home, name)) as conn:
            assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
            assert conn.execute("PRAGMA synchronous").fetchone()[0] == db.FULL


def test_the_same_work_is_registered_once(home: Path, payload: Payload) -> None:
    first = jobs.register(home, "k", payload, 0)
    again = jobs.register(home, "k", payload, 1)
    assert (first.job_id, first.new, again.new) == (again.job_id, True, False)


def test_another_input_under_the_same_key_changes_nothing(home: Path, payload: Payload) -> None:
    job_id = jobs.register(home, "k", payload, 0).job_id
    before = dict(jobs.get(home, job_id))
    with pytest.raises(Conflict):
        jobs.register(home, "k", {**payload, "amount": 1}, 0)
    assert dict(jobs.get(home, job_id)) == before


def test_oldest_first(home: Path, payload: Payload) -> None:
    ids = [jobs.register(home, key, payload, 0).job_id for key in ("a", "b")]
    claims = [jobs.claim(home, "A", 0), jobs.claim(home, "A", 0)]
    assert [claim and claim.job_id for claim in claims] == ids


def test_a_refused_finish_changes_nothing(home: Path, payload: Payload) -> None:
    job_id = submit(home, payload)
    jobs.claim(home, "A", 0)
    jobs.claim(home, "B", 30)
    before = dict(jobs.get(home, job_id))
    assert not reports.finish(home, job_id, 1, "late", 31)
    assert dict(jobs.get(home, job_id)) == before
    assert facts(home) == (0, 0, 0, 0)


def test_finishing_again_after_a_lost_answer_is_true_and_writes_nothing(home: Path, payload: Payload) -> None:
    job_id = submit(home, payload)
    jobs.claim(home, "A", 0)
    assert reports.finish(home, job_id, 1, "body", 1)
    assert reports.finish(home, job_id, 1, "body", 2)
    assert facts(home) == (1, 1, 1, 0)


def test_heartbeat_extends_its_own_generation_only(home: Path, payload: Payload) -> None:
    job_id = submit(home, payload)
    jobs.claim(home, "A", 0)
    assert jobs.heartbeat(home, job_id, 1, 20)
    assert jobs.claim(home, "B", 30) is None
    assert jobs.claim(home, "A", 50)
    assert not jobs.heartbeat(home, job_id, 1, 51)
    assert jobs.get(home, job_id)["lease_until"] == 80


def test_the_model_runs_outside_any_transaction(home: Path, payload: Payload, clock: Hands) -> None:
    def model(request: Payload) -> str:
        with db.app(home) as conn, db.transaction(conn):  # would be Busy inside one
            return "made"

    submit(home, payload)
    worker.work_once(home, "A", clock, worker.Tools(model=model))
    assert facts(home) == (1, 1, 1, 0)


def test_safe_failures_come_back_later_and_end_as_a_dead_letter(home: Path, payload: Payload, clock: Hands) -> None:
    def model(request: Payload) -> str:
        raise SafeToRetry("no answer came")

    job_id = submit(home, payload)
    states = []
    for _ in range(5):
        worker.work_once(home, "A", clock, worker.Tools(model=model))
        states.append(jobs.get(home, job_id)["state"])
        assert jobs.claim(home, "A", clock()) is None
        clock.now = jobs.get(home, job_id)["not_before"]
    assert states == ["retryable"] * 4 + ["dead"]


def test_run_until_idle_waits_for_a_dead_workers_lease(
    home: Path, payload: Payload, clock: Hands, dies_at: DiesAt
) -> None:
    def wait(seconds: float) -> None:
        clock.now += seconds

    submit(home, payload)
    assert dies_at("sample_app.job.claimed", lambda: worker.work_once(home, "A", clock))
    worker.run_until_idle(home, "A", clock, wait)
    assert clock.now == jobs.LEASE
    assert facts(home) == (1, 1, 1, 1)


def test_a_repeated_event_gets_the_first_answer(home: Path) -> None:
    message = {"owner": "o", "text": "t"}
    first = receiver.receive(home, "e", message, 0)
    again = receiver.receive(home, "e", message, 1)
    assert (first.first, again.first) == (True, False)
    assert first.notification_id == again.notification_id


def test_an_event_id_with_another_content_is_a_conflict(home: Path) -> None:
    receiver.receive(home, "e", {"owner": "o", "text": "t"}, 0)
    with pytest.raises(Conflict):
        receiver.receive(home, "e", {"owner": "o", "text": "other"}, 0)


def test_a_timeout_leaves_the_event_pending(home: Path, payload: Payload, clock: Hands) -> None:
    def deliver(*args: object) -> receiver.Answer:
        raise TimeoutError

    submit(home, payload)
    worker.work_once(home, "A", clock)
    assert outbox.dispatch_once(home, clock, deliver) == 0
    assert len(outbox.pending(home)) == 1


def test_the_history_cannot_be_rewritten(home: Path, payload: Payload) -> None:
    submit(home, payload)
    with sqlite3.connect(db.path_of(home, "app")) as conn:
        for sql in ("UPDATE events SET kind = ''", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                conn.execute(sql)
    conn.close()


def test_a_transaction_has_the_write_lock_before_it_reads(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMPLE_APP_BUSY_SECONDS", "0")
    with db.app(home) as first, db.app(home) as second:
        with db.transaction(first), pytest.raises(sqlite3.OperationalError, match="locked"):
            second.execute("BEGIN IMMEDIATE")
        with db.transaction(second):  # its turn
            pass
