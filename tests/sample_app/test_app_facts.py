"""What is kept where: columns, histories, the service's keys, and what an operator sees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import (
    approvals,
    cli,
    db,
    events,
    intents,
    jobs,
    migrations,
    outbox,
    reaper,
    receiver,
    resolve,
    status,
    worker,
)
from sample_app.demo import PAYLOAD, Hands
from sample_app.digests import digest
from sample_app.errors import Conflict
from sample_app.payloads import VERSIONS
from sample_app.ticket_desk import Desk, ledger

from .office import KEY, Office, Service, people

CONTENT = {"title": "t", "account": "a", "body": "b"}
STAGES = ("registered_at", "claimed_at", "computed_at", "committed_at", "done_at")


def known(home: Path) -> list[str]:
    """The stages whose time is known, and whether the notice is delivered and received."""
    row = jobs.get(home, 1)
    with db.app(home) as conn:
        delivered = conn.execute("SELECT count(*) FROM outbox WHERE delivered_at IS NOT NULL").fetchone()[0]
    return [name for name in STAGES if row[name] is not None] + ["delivered"] * delivered


@pytest.mark.parametrize(
    ("point", "facts"),
    [
        ("sample_app.job.registered", STAGES[:1]),
        ("sample_app.job.claimed", STAGES[:2]),
        ("sample_app.outbox.before_commit", STAGES[:2]),
        ("sample_app.job.committed", STAGES),
        ("sample_app.receiver.committed", STAGES),
        ("sample_app.outbox.marked", (*STAGES, "delivered")),
    ],
)
def test_registered_claimed_computed_committed_done_and_delivered_are_facts_of_their_own(
    crashwindow: CrashWindow, home: Path, point: str, facts: tuple[str, ...]
) -> None:
    def life() -> None:
        jobs.register(home, KEY, PAYLOAD, 0)
        worker.run_until_idle(home, "A", crashwindow.clock)

    assert crashwindow.run(life, crash_at=point).crashed
    assert known(home) == list(facts)


def test_a_job_row_keeps_its_digests_its_versions_and_the_time_of_each_stage(home: Path) -> None:
    clock = Hands()
    jobs.register(home, KEY, PAYLOAD, clock())
    clock.advance(1)
    worker.work_once(home, "A", clock)
    row = jobs.get(home, 1)
    assert row["input_digest"] == digest(PAYLOAD)
    assert row["output_digest"] == digest(jobs.register(home, KEY, PAYLOAD, 2).result)
    found = {name: row[f"{name}_version"] for name in ("worker", "prompt", "schema")}
    assert found == VERSIONS
    assert [row[stage] for stage in STAGES] == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("changed", sorted(VERSIONS))
def test_the_payload_hash_covers_the_versions(home: Path, changed: str) -> None:
    jobs.register(home, KEY, PAYLOAD, 0)
    with pytest.raises(Conflict):
        jobs.register(home, KEY, PAYLOAD, 0, versions={**VERSIONS, changed: "next"})


def test_the_operation_id_comes_from_the_task_and_not_from_the_attempt(home: Path, publishable: int) -> None:
    ids = set()
    for now in (0, jobs.LEASE):
        claim = jobs.claim(home, "A", now)
        assert claim
        intent, _ = intents.prepare(home, claim, CONTENT, lambda *_: None, now)
        assert claim.attempt_id not in intent.operation_id
        ids.add(intent.operation_id)
    assert ids == {f"ticket:{jobs.get(home, publishable)['task_key']}"}


# The ticket service -------------------------------------------------------------------------------


def test_the_same_key_and_parameters_give_the_first_ticket(home: Path) -> None:
    desk = Desk(home, Hands())
    assert desk.create("t", "k", CONTENT) == desk.create("t", "k", CONTENT)
    assert len(ledger(home)) == 1


def test_the_same_key_with_other_parameters_is_a_conflict(home: Path) -> None:
    desk = Desk(home, Hands())
    desk.create("t", "k", CONTENT)
    with pytest.raises(Conflict):
        desk.create("t", "k", {**CONTENT, "body": "other"})
    assert len(ledger(home)) == 1


def test_a_key_belongs_to_its_tenant(home: Path) -> None:
    desk = Desk(home, Hands())
    assert desk.create("one", "k", CONTENT)["ticket_id"] != desk.create("two", "k", CONTENT)["ticket_id"]


def test_after_its_retention_time_a_repeated_key_makes_a_second_ticket(home: Path) -> None:
    clock = Hands()
    desk = Desk(home, clock, retention=100)
    desk.create("t", "k", CONTENT)
    clock.advance(100)
    desk.create("t", "k", CONTENT)
    assert len(ledger(home)) == 2


@pytest.mark.crash_at("sample_app.ticket.sent")
def test_the_ledger_shows_one_action_while_the_job_awaits_its_disposal(
    crashwindow: CrashWindow, approved: Path
) -> None:
    office = uncertain(crashwindow, approved)
    assert len(ledger(approved)) == 1
    [ticket] = ledger(approved)
    assert status.status(approved, 0).uncertain == {2: f"ticket:publish:{KEY}:v1 is unknown"}
    assert resolve.happened(approved, 2, ticket["ticket_id"], "ledger", 31) == "pending"
    office.work("C")
    office.check()


@pytest.mark.crash_at("sample_app.intent.sent")
def test_what_did_not_happen_runs_again_under_the_same_operation_id(crashwindow: CrashWindow, approved: Path) -> None:
    office = uncertain(crashwindow, approved)
    before = intents.of_job(approved, 2)
    assert resolve.did_not_happen(approved, 2, "ledger is empty", 31) == "pending"
    office.work("C")
    after = intents.of_job(approved, 2)
    assert before
    assert after
    assert after.operation_id == before.operation_id
    office.check()


def uncertain(crashwindow: CrashWindow, home: Path) -> Office:
    """A worker died around its request to a service that can't be asked; the next one set the job aside."""
    office = Office(home, crashwindow.clock, Service(crashwindow, home, "none").start().client)
    assert crashwindow.run(office.work, "A").crashed
    crashwindow.clock.advance(jobs.LEASE)
    office.work("B")
    assert jobs.get(home, 2)["state"] == "uncertain"
    assert jobs.claim(home, "C", 1e6) is None
    return office


# Approvals, history, migration --------------------------------------------------------------------


def test_a_request_stores_what_it_is_about_and_whom_it_asks(approved: Path) -> None:
    row = approvals.get(approved, f"{KEY}:v1:1")
    action = json.loads(row["action"])
    assert (row["report_version"], row["applicant"], row["approver"]) == (1, "ada", "bo")
    assert set(action) == {"object_id", "tool_version", "parameters", "recipients", "attachments"}
    assert row["action_hash"] == digest(action)
    assert action["attachments"] == [row["report_digest"]]
    assert row["expires_at"] == approvals.TTL
    assert row["answered_by"] == "bo"


def test_the_events_alone_rebuild_the_tables(crashwindow: CrashWindow, approved: Path) -> None:
    office = Office(approved, crashwindow.clock, Service(crashwindow, approved).start().client)
    office.work("A")
    rebuilt = events.rebuild(approved)
    assert rebuilt == events.from_tables(approved)
    assert rebuilt["jobs"] == {"1": ["done", 1], "2": ["done", 1]}


def test_a_table_that_contradicts_the_history_is_found(approved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with db.app(approved) as conn:
        conn.execute("UPDATE jobs SET state = 'dead' WHERE job_id = 1")
    assert cli.main(["check", str(approved)]) == 1
    assert "1 differences: jobs 1: events say ['done', 1], table says ['dead', 1]" in capsys.readouterr().err


def test_a_migration_keeps_operation_ids_tickets_and_the_versions_of_approvals(
    crashwindow: CrashWindow, approved: Path
) -> None:
    office = Office(approved, crashwindow.clock, Service(crashwindow, approved).start().client)
    office.work("A")
    before = intents.of_job(approved, 2), dict(approvals.get(approved, f"{KEY}:v1:1"))
    with db.connect(db.path_of(approved, "app")) as conn, db.transaction(conn):
        conn.execute("ALTER TABLE jobs DROP COLUMN currency")
        conn.execute("PRAGMA user_version = 1")
    assert migrations.migrate(approved, 1) == 1
    assert (intents.of_job(approved, 2), dict(approvals.get(approved, f"{KEY}:v1:1"))) == before
    assert jobs.get(approved, 1)["worker_version"] == VERSIONS["worker"]
    office.check()


# Status -------------------------------------------------------------------------------------------


def test_status_shows_backlog_approvals_and_the_dead(home: Path) -> None:
    people(home)
    jobs.register(home, "a", PAYLOAD, 0)
    worker.work_once(home, "A", Hands())
    approvals.request(home, 1, "ada", "bo", 0)
    jobs.register(home, "b", PAYLOAD, 5)
    for number in range(jobs.CLAIM_LIMIT):
        jobs.claim(home, "A", 5 + number * jobs.LEASE)
    reaper.reap(home, 1e6)
    jobs.register(home, "c", PAYLOAD, 1e6)
    found = status.status(home, 1e6 + 7)
    assert found.jobs == {"done": 1, "pending": 2, "dead": 1}
    assert (found.waiting_for_approval, found.oldest_pending_age) == (1, 7)
    assert (found.dead, found.undelivered, found.expired_leases) == ([3], 1, [])
    assert len(found.lines()) == 9


def test_a_repeated_event_is_answered_word_by_word(home: Path) -> None:
    first = receiver.receive(home, "e", {"owner": "o", "text": "t"}, 0)
    again = receiver.receive(home, "e", {"owner": "o", "text": "t"}, 99)
    assert (again.notification_id, again.first) == (first.notification_id, False)
    assert outbox.pending(home) == []
