"""Two at once: a worker that wakes while the next one is at work, and a second writer at a lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import jobs, reports, worker
from sample_app.demo import PAYLOAD
from sample_app.errors import Busy

from .office import KEY, LOCKED, SERVICE_POINTS, Facts, Office, Service, facts

WORKERS = ["sample_app.*", *LOCKED, *(f"!{point}" for point in sorted(SERVICE_POINTS))]


@pytest.mark.crash_windows(pause=WORKERS)
def test_sweep_of_a_publisher_that_wakes_while_the_next_is_at_work(crashwindow: CrashWindow, approved: Path) -> None:
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    tools = worker.Tools(service.client())
    first = crashwindow.run(worker.work_once, approved, "A", crashwindow.clock, tools)
    crashwindow.clock.advance(jobs.LEASE)
    claim = jobs.claim(approved, "B", crashwindow.clock())
    first.resume()
    if claim is not None:
        assert jobs.get(approved, claim.job_id)["state"] == "running"
        assert worker.work_on(approved, claim, crashwindow.clock, tools)
    assert first.outcome == "returned"
    office.work("C")
    office.check()


@pytest.mark.crash_windows(pause=WORKERS)
def test_sweep_of_a_publisher_that_wakes_when_the_next_has_written(crashwindow: CrashWindow, approved: Path) -> None:
    """From the expiry of the lease to the first write under the new generation, and after it."""
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    tools = worker.Tools(service.client())
    first = crashwindow.run(worker.work_once, approved, "A", crashwindow.clock, tools)
    crashwindow.clock.advance(jobs.LEASE)
    worker.work_once(approved, "B", crashwindow.clock, tools)
    first.resume()
    assert first.outcome == "returned"
    office.work("C")
    office.check()


@pytest.mark.crash_windows(pause=WORKERS)
def test_sweep_of_a_reporter_that_wakes_while_the_next_is_at_work(crashwindow: CrashWindow, fast_home: Path) -> None:
    jobs.register(fast_home, KEY, PAYLOAD, 0)
    first = crashwindow.run(worker.work_once, fast_home, "A", crashwindow.clock)
    crashwindow.clock.advance(jobs.LEASE)
    claim = jobs.claim(fast_home, "B", crashwindow.clock())
    first.resume()
    if claim is not None:
        assert facts(fast_home) == Facts(0, 0, 0, 0)
        assert worker.work_on(fast_home, claim, crashwindow.clock)
    assert first.outcome == "returned"
    assert facts(fast_home) == Facts(1, 1, 1, 0)


@pytest.mark.crash_windows(pause="sample_app.jobs:get_in", calls=["sample_app.jobs:get_in"])
def test_sweep_of_a_second_writer_between_any_read_and_its_write(
    crashwindow: CrashWindow, fast_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one has the lock before it reads, so the second gets its turn or a clean "busy"; the first never."""
    monkeypatch.setenv("SAMPLE_APP_BUSY_SECONDS", "0")
    jobs.register(fast_home, KEY, PAYLOAD, 0)
    jobs.claim(fast_home, "A", 0)
    first = crashwindow.run(reports.finish, fast_home, 1, 1, "body", 0)
    second = crashwindow.run(jobs.register, fast_home, "another", PAYLOAD, 0)
    assert second.outcome == "returned" or isinstance(second.error, Busy)
    first.resume()
    assert first.value is True
    assert facts(fast_home) == Facts(1, 1, 1, 0)
