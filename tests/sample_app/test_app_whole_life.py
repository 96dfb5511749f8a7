"""From the request to the notice, broken at every point that it passes, in every mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sample_app import (
    approvals,
    cancel,
    db,
    events,
    intents,
    jobs,
    outbox,
    pages,
    receiver,
    reports,
    resolve,
    worker,
)
from sample_app.demo import PAYLOAD
from sample_app.errors import Refused
from sample_app.payloads import key_of
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import ledger

Serve = Callable[..., TicketClient]
MODES = ["keys", "search", "none"]
KEY = key_of(PAYLOAD)


class Office:
    """One installation, with the people who use it. Everything may be repeated."""

    def __init__(self, home: Path, clock: Any, client: TicketClient) -> None:
        self.home, self.clock, self.client = home, clock, client
        db.init(home)
        approvals.set_person(home, "bo", "secret", True)

    def life(self) -> None:
        self.submit()
        self.idle()
        self.approve()
        self.idle()

    def submit(self) -> int:
        return jobs.register(self.home, KEY, PAYLOAD, self.clock()).job_id

    def approve(self) -> None:
        request = approvals.request(self.home, self.submit(), "ada", "bo", self.clock())
        row = approvals.get(self.home, request)
        version, wanted = row["report_version"], row["action_hash"]
        approvals.answer(self.home, request, "bo", "secret", True, version, wanted, self.clock())

    def idle(self) -> None:
        tools = worker.Tools(self.client)
        worker.run_until_idle(self.home, "A", self.clock, self.clock.wait, tools)

    def idle_without_tickets(self) -> None:
        worker.run_until_idle(self.home, "A", self.clock, self.clock.wait)

    def settle_by_hand(self) -> None:
        """What an operator does who has looked into the service's ledger."""
        for row in jobs.everything(self.home):
            if row["state"] == "uncertain":
                intent = intents.of_job(self.home, row["job_id"])
                assert intent, "an uncertain job is explained by its intent"
                tickets = [ticket["ticket_id"] for ticket in ledger(self.home)]
                if tickets:
                    resolve.happened(self.home, row["job_id"], tickets[0], "ledger", self.clock())
                else:
                    resolve.did_not_happen(self.home, row["job_id"], "ledger", self.clock())

    def check(self) -> None:
        assert [row["state"] for row in jobs.everything(self.home)] == ["done", "done"]
        assert len(ledger(self.home)) == 1
        report, page = reports.latest(self.home, 1), pages.read(self.home, KEY)
        assert report and page  # noqa: PT018
        assert report["body"] == page["body"]
        assert outbox.pending(self.home) == []
        assert len(receiver.notifications(self.home)) == len(receiver.inbox(self.home)) == 2
        assert events.differences(self.home) == []


@pytest.fixture
def offices(tmp_path: Path, serve: Serve, home: Path, shared_clock: Any) -> Callable[[str], Office]:
    """A new installation for each world; the ticket service moves along."""
    numbers: Iterator[int] = iter(range(10**6))

    def make(mode: str) -> Office:
        place = tmp_path / f"office-{next(numbers)}"
        shared_clock.path.write_text("0")
        return Office(place, shared_clock, serve(mode, home=place))

    return make


@pytest.mark.parametrize("mode", MODES)
def test_a_death_at_any_point(offices: Callable[[str], Office], children: Any, mode: str) -> None:
    for point in children.points_of(offices(mode).life):
        office = offices(mode)
        assert children.dies_at(point, office.life)
        office.life()
        office.settle_by_hand()
        office.idle()
        office.check()


@pytest.mark.parametrize("error", [TimeoutError, OSError], ids=lambda error: error.__name__)
@pytest.mark.parametrize("mode", MODES)
def test_an_error_at_any_point(
    offices: Callable[[str], Office], children: Any, mode: str, error: type[OSError]
) -> None:
    for point in children.points_of(offices(mode).life):
        office = offices(mode)

        def life(office: Office = office) -> None:
            try:
                office.life()
            except OSError:  # outside of the worker's loop: the caller tries again
                office.life()

        children.raises_at(point, error("broken"), life)
        office.settle_by_hand()
        office.idle()
        office.check()


@pytest.mark.parametrize("mode", MODES)
def test_a_pause_past_the_lease_at_any_point(offices: Callable[[str], Office], children: Any, mode: str) -> None:
    for point in children.points_of(offices(mode).life):
        if ".before_" in point or point.startswith("sample_app.dead_letter"):
            continue  # stopped inside a transaction it would keep everybody out
        office = offices(mode)
        resume = children.stops_at(point, office.life)
        office.clock.wait(jobs.LEASE)
        office.life()
        resume()
        office.settle_by_hand()
        office.idle()
        office.check()


@pytest.mark.parametrize("mode", MODES)
def test_cancelled_while_a_worker_is_paused_at_any_point(
    offices: Callable[[str], Office], children: Any, mode: str
) -> None:
    def prepared() -> tuple[Office, int]:
        office = offices(mode)
        office.submit()
        office.idle_without_tickets()
        office.approve()
        return office, jobs.everything(office.home)[-1]["job_id"]

    for point in children.points_of(prepared()[0].idle):
        if ".before_" in point:
            continue
        office, job_id = prepared()
        resume = children.stops_at(point, office.idle)
        published = pages.read(office.home, KEY) is not None
        try:
            cancel.cancel(office.home, job_id, office.clock())
        except Refused:
            assert jobs.get(office.home, job_id)["state"] == "done"
            resume()
            continue
        resume()
        office.settle_by_hand()
        office.idle()
        assert jobs.get(office.home, job_id)["state"] == "cancelled"
        assert (pages.read(office.home, KEY) is not None) == published
        assert len(ledger(office.home)) <= 1
        assert events.differences(office.home) == []
