"""From the request to the notice, broken at every point that it passes: the caller, the worker, and the
ticket service in a process of its own, reached by HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import jobs

from .office import LOCKED, MODES, Office, Service, people

OWN = "sample_app.*"
CREATE = "sample_app.ticket_client:TicketClient.create"
RECEIVE = "sample_app.receiver:receive"


@pytest.fixture
def home(fast_home: Path) -> Path:
    people(fast_home)
    return fast_home


FAULTS = {"crash": OWN, "lost_ack": OWN, "error": OWN, "pause": [OWN, *LOCKED]}


@pytest.mark.crash_windows(**FAULTS)
def test_sweep_of_the_whole_life(crashwindow: CrashWindow, home: Path) -> None:
    """Submit, compute, notify, approve, ticket, publish, notify."""
    office, service = installation(crashwindow, home, "keys")
    broken_once(crashwindow, service, office, office.life)
    office.check()


@pytest.mark.crash_windows(**FAULTS)
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "keys"])
def test_sweep_from_the_approval_on_with_a_service_that_knows_less(
    crashwindow: CrashWindow, approved: Path, mode: str
) -> None:
    """Ticket, publish, notify. What comes before never meets the service."""
    office, service = installation(crashwindow, approved, mode)
    broken_once(crashwindow, service, office, office.work)
    office.check()


def installation(crashwindow: CrashWindow, home: Path, mode: str) -> tuple[Office, Service]:
    service = Service(crashwindow, home, mode).start()
    return Office(home, crashwindow.clock, service.client), service


def broken_once(crashwindow: CrashWindow, service: Service, office: Office, act: Callable[[str], None]) -> None:
    """A is broken somewhere; service, successor and operator do what they do; A wakes if it was paused."""
    first = crashwindow.run(act, "A")
    service.recover()
    crashwindow.clock.advance(jobs.LEASE)
    if first.outcome != "returned":
        act("B")
    first.resume()
    office.settle_by_hand()
    if office.unfinished():
        act("C")


@pytest.mark.crash_windows(crash="sqlite3.commit", lost_ack="sqlite3.commit")
def test_sweep_of_every_commit_whether_it_has_a_point_or_not(crashwindow: CrashWindow, home: Path) -> None:
    """Inside SQLite's commit, before and after it took effect; the ticket service's commits as well."""
    office, service = installation(crashwindow, home, "keys")
    broken_once(crashwindow, service, office, office.life)
    office.check()


@pytest.mark.crash_windows(lost_ack="http.request", error="http.request", pause="http.request", crash="http.request")
@pytest.mark.parametrize("mode", MODES)
def test_sweep_of_requests_and_answers_that_get_lost(crashwindow: CrashWindow, approved: Path, mode: str) -> None:
    office, service = installation(crashwindow, approved, mode)
    broken_once(crashwindow, service, office, office.work)
    office.check()


@pytest.mark.crash_windows(duplicate=[CREATE, RECEIVE], calls=[CREATE, RECEIVE])
def test_sweep_of_requests_and_events_that_arrive_twice(crashwindow: CrashWindow, home: Path) -> None:
    office, service = installation(crashwindow, home, "keys")
    broken_once(crashwindow, service, office, office.life)
    office.check()
