"""Cancelled while a worker is dead or paused anywhere between the claim and the notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import cancel, events, jobs, pages, worker
from sample_app.errors import Refused
from sample_app.ticket_desk import ledger

from .office import KEY, LOCKED, MODES, SERVICE_POINTS, Office, Service


@pytest.mark.crash_windows(crash=["sample_app.*", *LOCKED], pause=["sample_app.*", *LOCKED])
@pytest.mark.parametrize("mode", MODES)
def test_sweep_of_a_cancellation_at_any_instant(crashwindow: CrashWindow, approved: Path, mode: str) -> None:
    service = Service(crashwindow, approved, mode).start()
    office = Office(approved, crashwindow.clock, service.client)
    first = crashwindow.run(office.work, "A")
    published = pages.read(approved, KEY) is not None
    try:
        cancel.cancel(approved, 2, crashwindow.clock())
    except Refused:
        assert jobs.get(approved, 2)["state"] == "done"
        return
    service.recover()
    tickets = len(ledger(approved))
    first.resume()
    crashwindow.clock.advance(jobs.LEASE)
    office.work("B")
    while office.settle_by_hand():
        office.work("B")
    assert jobs.get(approved, 2)["state"] == "cancelled"
    assert (pages.read(approved, KEY) is not None) == published
    # Nothing new starts. What the paused worker had on its way when it was stopped may arrive.
    assert len(ledger(approved)) in {tickets, int(in_flight(first.hits))}
    assert events.differences(approved) == []


@pytest.mark.crash_windows(pause=["sample_app.*", *LOCKED, *(f"!{point}" for point in sorted(SERVICE_POINTS))])
def test_sweep_of_a_stop_intent_whose_author_died_right_after_it(crashwindow: CrashWindow, approved: Path) -> None:
    """The intent alone stops a worker that wakes: it starts nothing new, though nobody has closed the job."""
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    tools = worker.Tools(service.client())
    first = crashwindow.run(worker.work_once, approved, "A", crashwindow.clock, tools)
    published = pages.read(approved, KEY) is not None
    try:
        cancel.request_stop(approved, 2, crashwindow.clock())
    except Refused:
        assert jobs.get(approved, 2)["state"] == "done"
        return
    checked = "sample_app.publication.checked+1" in first.hits
    sent = in_flight(first.hits)
    first.resume()
    assert in_flight(first.hits) == sent
    assert checked or (pages.read(approved, KEY) is not None) == published
    assert jobs.get(approved, 2)["state"] != "done"
    office.work("B")
    assert jobs.get(approved, 2)["state"] == "cancelled"
    assert len(ledger(approved)) == int(sent)
    assert events.differences(approved) == []


def in_flight(hits: list[str]) -> bool:
    return "sample_app.intent.sent+1" in hits


@pytest.mark.crash_windows(crash="sample_app.cancel.*", error="sample_app.cancel.*", depth=2)
def test_sweep_of_a_cancellation_that_is_cut_short(crashwindow: CrashWindow, approved: Path) -> None:
    """Once the wish is persisted it comes true, whoever dies; before that nobody was promised anything."""
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    life = crashwindow.run(cancel.cancel, approved, 2, 0)
    requested = jobs.get(approved, 2)["stop_requested_at"] is not None
    crashwindow.supervise(office.work, "A")
    assert jobs.get(approved, 2)["state"] == ("cancelled" if requested else "done")
    assert len(ledger(approved)) == (0 if requested else 1)
    assert requested or life.outcome != "returned"
    assert events.differences(approved) == []
