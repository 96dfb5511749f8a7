"""Ticket, page and notice of an approved report: in order, and what an operator does about the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sample_app import (
    dead_letters,
    events,
    intents,
    jobs,
    outbox,
    pages,
    receiver,
    reconcile,
    resolve,
    worker,
)
from sample_app.demo import Hands
from sample_app.errors import Refused
from sample_app.ticket_client import NotSent, OutcomeUnknown, Ticket, TicketClient
from sample_app.ticket_desk import Desk, ledger

DiesAt = Callable[[str, Callable[[], object]], bool]
Serve = Callable[..., TicketClient]

PAGE = "acme/2026-01/1"


def idle(home: Path, clock: Hands, client: TicketClient, name: str = "B") -> None:
    def wait(seconds: float) -> None:
        clock.now += seconds

    worker.run_until_idle(home, name, clock, wait, worker.Tools(client))


def check_all_done(home: Path, job_id: int) -> None:
    assert jobs.get(home, job_id)["state"] == "done"
    assert len(ledger(home)) == 1
    page = pages.read(home, PAGE)
    assert page
    assert page["body"].startswith("Report for acme")
    assert outbox.pending(home) == []
    assert len(receiver.notifications(home)) == 2
    assert events.differences(home) == []


@pytest.mark.parametrize("mode", ["keys", "search", "none"])
def test_without_any_death(home: Path, clock: Hands, serve: Serve, publishable: int, mode: str) -> None:
    idle(home, clock, serve(mode))
    check_all_done(home, publishable)


class LostAnswer(TicketClient):
    """The service acts; its answer never arrives."""

    def create(self, operation_id: str, parameters: dict[str, str]) -> Ticket:
        super().create(operation_id, parameters)
        raise OutcomeUnknown("no answer")


def test_a_timeout_is_not_a_failure(home: Path, clock: Hands, serve: Serve, publishable: int) -> None:
    client = serve()
    worker.work_once(home, "A", clock, worker.Tools(LostAnswer(client.url)))
    assert jobs.get(home, publishable)["state"] == "uncertain"
    assert reconcile.reconcile_once(home, client, clock) == [publishable]
    idle(home, clock, client)
    check_all_done(home, publishable)


def test_no_connection_is_safe_to_retry(home: Path, clock: Hands, publishable: int) -> None:
    nobody = TicketClient("http://127.0.0.1:9")
    worker.work_once(home, "A", clock, worker.Tools(nobody))
    assert jobs.get(home, publishable)["state"] == "retryable"
    intent = intents.of_job(home, publishable)
    assert intent
    assert intent.state == "prepared"


def test_a_forgotten_key_is_queried_and_not_retried(
    home: Path, clock: Hands, serve: Serve, publishable: int, dies_at: DiesAt
) -> None:
    client = serve(retention=100)
    tools = worker.Tools(client)
    assert dies_at("sample_app.intent.sent", lambda: worker.work_once(home, "A", clock, tools))
    clock.now = 200
    idle(home, clock, client)
    assert jobs.get(home, publishable)["state"] == "uncertain"
    assert ledger(home) == []


def test_a_ticket_that_is_found_after_the_retention_time_is_adopted(
    home: Path, clock: Hands, serve: Serve, publishable: int, dies_at: DiesAt
) -> None:
    client = serve(retention=100)
    tools = worker.Tools(client)
    assert dies_at("sample_app.ticket.sent", lambda: worker.work_once(home, "A", clock, tools))
    clock.now = 200
    idle(home, clock, client)
    check_all_done(home, publishable)


def test_a_found_ticket_with_another_content_is_not_adopted(
    home: Path, clock: Hands, serve: Serve, publishable: int, dies_at: DiesAt
) -> None:
    client = serve()
    tools = worker.Tools(client)
    assert dies_at("sample_app.intent.sent", lambda: worker.work_once(home, "A", clock, tools))
    intent = intents.of_job(home, publishable)
    assert intent
    Desk(home, clock).create("sample", intent.operation_id, {**intent.parameters, "body": "?"})
    idle(home, clock, client)
    assert jobs.get(home, publishable)["state"] == "uncertain"


def test_compensation_has_an_intent_of_its_own(
    home: Path, clock: Hands, serve: Serve, publishable: int, dies_at: DiesAt
) -> None:
    client = serve("none")
    tools = worker.Tools(client)
    assert dies_at("sample_app.ticket.sent", lambda: worker.work_once(home, "A", clock, tools))
    idle(home, clock, client)
    [ticket] = ledger(home)

    def compensate() -> object:
        return resolve.compensated(home, publishable, ticket["ticket_id"], "not wanted", client, clock)

    assert dies_at("sample_app.ticket.compensated", compensate)
    assert jobs.get(home, publishable)["state"] == "uncertain"
    assert compensate() == "cancelled"
    [ticket] = ledger(home)
    assert ticket["cancelled_at"] is not None
    own = intents.of_job(home, publishable, "compensate")
    assert own
    assert own.state == "confirmed"
    assert events.differences(home) == []


def test_only_an_uncertain_job_can_be_resolved(home: Path, clock: Hands, publishable: int) -> None:
    with pytest.raises(Refused):
        resolve.did_not_happen(home, publishable, "", clock())


def test_a_stale_generation_cannot_write_the_page(home: Path) -> None:
    assert pages.write(home, "p", 1, 42, "new", 0)
    assert not pages.write(home, "p", 1, 41, "stale", 0)
    page = pages.read(home, "p")
    assert page
    assert page["body"] == "new"


def test_a_refused_ticket_ends_as_a_dead_letter_and_can_be_requeued(
    home: Path, clock: Hands, serve: Serve, publishable: int
) -> None:
    client = serve()
    operation_id = f"ticket:{jobs.get(home, publishable)['task_key']}"
    other = {"title": "t", "account": "a", "body": "b"}
    client.create(operation_id, other)  # the key is taken, by something else
    worker.work_once(home, "A", clock, worker.Tools(client))
    assert jobs.get(home, publishable)["state"] == "dead"
    intent = intents.of_job(home, publishable)
    assert intent
    assert intent.state == "failed"
    dead_letters.requeue(home, publishable, clock())
    worker.work_once(home, "A", clock, worker.Tools(client))
    assert jobs.get(home, publishable)["state"] == "dead"
    assert len(ledger(home)) == 1
    assert events.differences(home) == []


class Overtaken(TicketClient):
    """While its request doesn't get through, a successor takes the job over and sends."""

    def create(self, operation_id: str, parameters: dict[str, str]) -> Ticket:
        home = Path(self.tenant)
        claim = jobs.claim(home, "B", 31)
        assert claim
        intent, _ = intents.prepare(home, claim, parameters, lambda *_: None, 31)
        intents.may_send_again(home, intent, 31)
        intent = replace(intent, state="prepared")
        intents.mark_sent(home, intent, claim.generation, lambda *_: None, 31)
        raise NotSent("no connection")


def test_who_could_not_send_does_not_take_back_the_request_of_a_successor(
    home: Path, clock: Hands, publishable: int
) -> None:
    worker.work_once(home, "A", clock, worker.Tools(Overtaken("", str(home))))
    intent = intents.of_job(home, publishable)
    assert intent
    assert (intent.state, jobs.get(home, publishable)["generation"]) == ("sent", 2)


def test_a_decision_about_an_older_request_does_not_touch_a_newer_one(
    home: Path, clock: Hands, serve: Serve, publishable: int, dies_at: DiesAt
) -> None:
    tools = worker.Tools(serve())
    assert dies_at("sample_app.intent.sent", lambda: worker.work_once(home, "A", clock, tools))
    older = intents.of_job(home, publishable)
    assert older
    clock.now = 31
    assert dies_at("sample_app.ticket.sent", lambda: worker.work_once(home, "B", clock, tools))
    intents.may_send_again(home, older, 32)
    newer = intents.of_job(home, publishable)
    assert newer
    assert newer.state == "sent"
