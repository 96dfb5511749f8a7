"""The four windows of commit and delivery: a report becomes known once, wherever its worker dies."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import db, events, intents, jobs, outbox, receiver, worker
from sample_app.demo import PAYLOAD
from sample_app.errors import Conflict, SafeToRetry
from sample_app.payloads import Payload

from .office import KEY, Facts, facts

NOTHING = Facts(done=0, reports=0, events=0, inbox=0)
COMMITTED = Facts(done=1, reports=1, events=1, inbox=0)
RECEIVED = Facts(done=1, reports=1, events=1, inbox=1)


@pytest.fixture
def submitted(home: Path) -> Path:
    jobs.register(home, KEY, PAYLOAD, 0)
    return home


@pytest.fixture
def committed(submitted: Path) -> Path:
    worker.work_once(submitted, "A", lambda: 0)
    return submitted


def told_once(home: Path) -> None:
    assert facts(home) == RECEIVED
    assert len(receiver.notifications(home)) == 1
    assert outbox.pending(home) == []
    assert events.differences(home) == []


@pytest.mark.crash_at("sample_app.outbox.before_commit")
def test_died_before_commit_nothing_is_there_and_the_work_is_done_again(
    crashwindow: CrashWindow, submitted: Path
) -> None:
    assert crashwindow.run(worker.work_once, submitted, "A", crashwindow.clock).crashed
    assert facts(submitted) == NOTHING
    crashwindow.clock.advance(jobs.LEASE)
    assert crashwindow.run(worker.work_once, submitted, "B", crashwindow.clock).value.generation == 2
    assert facts(submitted) == COMMITTED


@pytest.mark.crash_at("sqlite3.commit:enter", nth=3)
def test_died_inside_the_commit_itself_leaves_nothing_either(crashwindow: CrashWindow, submitted: Path) -> None:
    life = crashwindow.run(worker.work_once, submitted, "A", crashwindow.clock)
    assert life.hits[-2:] == ["sample_app.outbox.before_commit+1", "sqlite3.commit:enter+3"]
    assert facts(submitted) == NOTHING


@pytest.mark.crash_at("sample_app.job.committed")
def test_died_after_commit_a_retry_gets_the_saved_result_and_writes_nothing(
    crashwindow: CrashWindow, submitted: Path
) -> None:
    assert crashwindow.run(worker.work_once, submitted, "A", crashwindow.clock).crashed
    assert facts(submitted) == COMMITTED
    saved = crashwindow.run(jobs.register, submitted, KEY, PAYLOAD, crashwindow.clock()).value
    assert (saved.state, saved.new) == ("done", False)
    assert "1200.50 EUR" in saved.result
    assert jobs.claim(submitted, "B", jobs.LEASE) is None
    assert facts(submitted) == COMMITTED


@pytest.mark.lost_ack_at("sample_app.reports:finish")
def test_the_reply_to_the_commit_lost_a_retry_gets_the_saved_result(crashwindow: CrashWindow, submitted: Path) -> None:
    life = crashwindow.run(worker.work_once, submitted, "A", crashwindow.clock)
    assert isinstance(life.error, TimeoutError)
    assert facts(submitted) == COMMITTED
    assert jobs.register(submitted, KEY, PAYLOAD, 1).result is not None
    assert facts(submitted) == COMMITTED


@pytest.mark.crash_at("sample_app.receiver.before_commit")
def test_died_before_the_receiver_committed_it_knows_nothing_and_the_event_is_offered_again(
    crashwindow: CrashWindow, committed: Path
) -> None:
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).crashed
    assert (receiver.inbox(committed), receiver.notifications(committed)) == ([], [])
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).value == 1
    told_once(committed)


@pytest.mark.crash_at("sample_app.receiver.committed")
def test_receiver_committed_sender_unaware_then_the_redelivery_is_a_duplicate(
    crashwindow: CrashWindow, committed: Path
) -> None:
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).crashed
    [event] = outbox.pending(committed)
    assert receiver.inbox(committed) == [event["event_id"]]
    answer = crashwindow.run(receiver.receive, committed, event["event_id"], outbox.payload_of(event), 1).value
    assert (answer.first, answer.notification_id) == (False, 1)
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).value == 1
    told_once(committed)


@pytest.mark.lost_ack_at("sample_app.receiver:receive")
def test_the_receivers_answer_lost_leaves_the_event_pending_with_its_id(
    crashwindow: CrashWindow, committed: Path
) -> None:
    [before] = outbox.pending(committed)
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).value == 0
    [after] = outbox.pending(committed)
    assert after["event_id"] == before["event_id"]
    assert receiver.inbox(committed) == [before["event_id"]]
    crashwindow.clock.advance(outbox.OFFER_AGAIN_AFTER)
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).value == 1
    told_once(committed)


@pytest.mark.crash_at("sample_app.outbox.before_marked")
def test_answered_but_not_marked_the_same_event_goes_out_again(crashwindow: CrashWindow, committed: Path) -> None:
    assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).crashed
    assert len(outbox.pending(committed)) == 1
    crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock)
    told_once(committed)


@pytest.mark.duplicate_at("sample_app.receiver:receive")
def test_an_event_that_arrives_twice_has_one_business_row(crashwindow: CrashWindow, committed: Path) -> None:
    life = crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock)
    assert life.hits.count("sample_app.receiver.committed+1") == 1
    assert "sample_app.receiver.received+2" in life.hits
    told_once(committed)


@pytest.mark.error_at("sample_app.receiver:receive", ConnectionError, nth=None)
def test_while_the_receiver_is_down_the_event_stays_pending(crashwindow: CrashWindow, committed: Path) -> None:
    for _ in range(3):
        assert crashwindow.run(outbox.dispatch_once, committed, crashwindow.clock).value == 0
        crashwindow.clock.advance(outbox.OFFER_AGAIN_AFTER)
    assert facts(committed) == COMMITTED
    assert outbox.pending(committed)[0]["offers"] == 3


@pytest.mark.crash_at("sample_app.job.before_registered")
def test_died_before_the_registration_committed_the_next_one_is_new(
    crashwindow: CrashWindow, home: Path, payload: Payload
) -> None:
    assert crashwindow.run(jobs.register, home, KEY, payload, 0).crashed
    assert jobs.everything(home) == []
    assert crashwindow.run(jobs.register, home, KEY, payload, 0).value.new


@pytest.mark.crash_at("sample_app.job.registered")
@pytest.mark.parametrize("change", [{"amount": 1}, {"currency": "USD"}, {"owner": "eve@example.org"}])
def test_the_same_key_with_another_payload_is_refused_and_nothing_is_overwritten(
    crashwindow: CrashWindow, home: Path, payload: Payload, change: Payload
) -> None:
    assert crashwindow.run(jobs.register, home, KEY, payload, 0).crashed
    before = [dict(row) for row in jobs.everything(home)]
    refused = crashwindow.run(jobs.register, home, KEY, {**payload, **change}, 0)
    assert isinstance(refused.error, Conflict)
    assert [dict(row) for row in jobs.everything(home)] == before
    assert not crashwindow.run(jobs.register, home, KEY, payload, 0).value.new


@pytest.mark.crash_at("sample_app.intent.unknown")
def test_uncertain_is_never_claimed_again(crashwindow: CrashWindow, home: Path, publishable: int) -> None:
    def give_up() -> None:
        claim = jobs.claim(home, "A", 0)
        assert claim
        intent, _ = intents.prepare(home, claim, {}, lambda *_: None, 0)
        intents.mark_sent(home, intent, 1, lambda *_: None, 0)
        intents.becomes_unknown(home, intent, 1, "no answer", 0)

    assert crashwindow.run(give_up).crashed
    assert jobs.get(home, publishable)["state"] == "uncertain"
    for now in (jobs.LEASE, 10 * jobs.LEASE, 1e9):
        assert crashwindow.run(jobs.claim, home, "B", now).value is None
    assert jobs.next_due(home) is None


@pytest.mark.error_at("sample_app.reports:compute", SafeToRetry("the model is down"))
def test_a_failure_known_to_be_safe_is_retried_later(crashwindow: CrashWindow, submitted: Path) -> None:
    crashwindow.run(worker.work_once, submitted, "A", crashwindow.clock)
    assert jobs.get(submitted, 1)["state"] == "retryable"
    assert jobs.claim(submitted, "B", 0) is None
    crashwindow.clock.advance(1)
    crashwindow.run(worker.work_once, submitted, "B", crashwindow.clock)
    assert facts(submitted) == COMMITTED


@pytest.mark.crash_at("sample_app.database.before_commit", nth=2)
def test_died_while_the_databases_were_made_init_goes_on(crashwindow: CrashWindow, tmp_path: Path) -> None:
    home = tmp_path / "new"
    assert crashwindow.run(db.init, home).crashed
    assert crashwindow.run(db.init, home).outcome == "returned"
    assert facts(home) == NOTHING
