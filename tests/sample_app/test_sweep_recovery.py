"""Recovery dies as well: pairs of deaths, of workers and of the ticket service, in every combination."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import jobs, outbox, receiver, worker

from .office import LOCKED, Office, Service, people

# What comes after a commit, or between two. Dying right before one is dying after the one before it,
# as the sweep of the whole life shows.
COMMITTED = ["sample_app.*", *LOCKED, "!sample_app.outbox.picked", "!sample_app.outbox.answered"]
OUTSIDE = ["sample_app.intent.*", "sample_app.ticket.*", *LOCKED]


def live_until_idle(crashwindow: CrashWindow, office: Office, service: Service) -> None:
    """Start worker and service again, as a supervisor does, and ask a person, until nothing is left to do."""
    for name in "ABCDEF":
        life = crashwindow.run(office.work, name)
        assert life.crashed or life.outcome == "returned"
        again = life.crashed or service.died
        service.recover()
        crashwindow.clock.advance(jobs.LEASE)
        again |= office.settle_by_hand()
        if not again:
            return
    raise AssertionError("there is always something left to do")


@pytest.mark.crash_windows(crash=COMMITTED, depth=2)
def test_sweep_of_two_deaths_from_the_approval_to_the_notice(crashwindow: CrashWindow, approved: Path) -> None:
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    live_until_idle(crashwindow, office, service)
    office.check()


@pytest.mark.crash_windows(crash=OUTSIDE, depth=2)
@pytest.mark.parametrize("mode", ["search", "none"])
def test_sweep_of_two_deaths_around_a_service_that_knows_less(
    crashwindow: CrashWindow, approved: Path, mode: str
) -> None:
    service = Service(crashwindow, approved, mode).start()
    office = Office(approved, crashwindow.clock, service.client)
    live_until_idle(crashwindow, office, service)
    office.check()


@pytest.mark.crash_windows(crash=COMMITTED, depth=2)
def test_sweep_of_two_deaths_from_the_request_to_the_first_notice(crashwindow: CrashWindow, fast_home: Path) -> None:
    people(fast_home)
    service = Service(crashwindow, fast_home)
    office = Office(fast_home, crashwindow.clock, service.client)

    def life() -> None:
        office.submit()
        office.work()

    crashwindow.supervise(life)
    assert office.facts()[:3] == (1, 1, 1)
    assert len(receiver.notifications(fast_home)) == 1
    assert outbox.pending(fast_home) == []


@pytest.mark.crash_windows(pause=["sample_app.*", *LOCKED, "!sample_app.ticket.received", "!sample_app.ticket.stored"])
def test_sweep_of_the_service_being_killed_at_any_instant_of_the_worker(
    crashwindow: CrashWindow, approved: Path
) -> None:
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    turn = crashwindow.run(worker.work_once, approved, "A", crashwindow.clock, worker.Tools(service.client()))
    if turn.paused:
        assert service.life is not None
        service.life.kill()
        assert turn.resume().outcome == "returned"
        service.start()
    crashwindow.clock.advance(jobs.LEASE)
    office.work("B")
    office.check()
