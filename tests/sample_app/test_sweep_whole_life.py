"""From the request to the notice, broken at every point that it passes: the caller, the worker, and the
ticket service in a process of its own, reached by HTTP.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import jobs

from .office import LOCKED, MODES, Office, Service, people

OWN = "sample_app.*"


@pytest.fixture
def home(fast_home: Path) -> Path:
    people(fast_home)
    return fast_home


@pytest.mark.crash_windows(crash=OWN, lost_ack=OWN, error=OWN, pause=[OWN, *LOCKED])
@pytest.mark.parametrize("mode", MODES)
def test_sweep_of_the_whole_life(crashwindow: CrashWindow, home: Path, mode: str) -> None:
    service = Service(crashwindow, home, mode).start()
    office = Office(home, crashwindow.clock, service.client)
    first = crashwindow.run(office.life, "A")
    service.recover()
    crashwindow.clock.advance(jobs.LEASE)
    if first.outcome != "returned":
        office.life("B")
    first.resume()
    office.settle_by_hand()
    if office.unfinished():
        office.life("C")
    office.check()
