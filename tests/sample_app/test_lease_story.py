"""A and B and one job: A claims it and is killed, or is stopped and wakes when B has finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import db, events, jobs, pages, reports, worker
from sample_app.demo import PAYLOAD

from .office import KEY


@pytest.fixture
def job(home: Path) -> int:
    return jobs.register(home, KEY, PAYLOAD, 0).job_id


def seen(home: Path, job: int) -> tuple[str, int]:
    """State and generation, by a connection opened for this."""
    row = jobs.get(home, job)
    return row["state"], row["generation"]


def work(home: Path, name: str, clock: object, body: str) -> bool:
    """Claim a job, and write `body` as its report."""
    claim = jobs.claim(home, name, clock())  # type: ignore[operator]
    assert claim
    return reports.finish(home, claim.job_id, claim.generation, body, clock())  # type: ignore[operator]


def body_of(home: Path, job: int) -> str:
    report = reports.latest(home, job)
    assert report
    return str(report["body"])


@pytest.mark.crash_at("sample_app.job.claimed")
def test_a_is_killed_and_b_takes_over_when_the_lease_has_expired(
    crashwindow: CrashWindow, home: Path, job: int
) -> None:
    clock = crashwindow.clock
    assert seen(home, job) == ("pending", 0)
    assert crashwindow.run(work, home, "A", clock, "A's", name="A").crashed
    assert seen(home, job) == ("running", 1)

    assert clock.advance(10) == 10
    assert crashwindow.run(jobs.claim, home, "B", clock(), name="B at 10").value is None

    assert clock.advance(20) == 30
    claim = crashwindow.run(jobs.claim, home, "B", clock(), name="B at 30").value
    assert claim.generation == 2
    assert crashwindow.run(reports.finish, home, job, 1, "A's", clock()).value is False
    assert crashwindow.run(reports.finish, home, job, 2, "B's", clock()).value is True
    assert crashwindow.run(jobs.claim, home, "C", clock()).value is None
    assert (seen(home, job), body_of(home, job)) == (("done", 2), "B's")
    assert events.differences(home) == []


@pytest.mark.pause_at("sample_app.job.claimed")
def test_a_is_stopped_and_wakes_when_b_has_finished(crashwindow: CrashWindow, home: Path, job: int) -> None:
    clock = crashwindow.clock
    a = crashwindow.run(work, home, "A", clock, "A's", name="A")
    assert a.paused
    assert (clock(), seen(home, job)) == (0, ("running", 1))

    clock.advance(10)
    assert jobs.claim(home, "B", clock()) is None

    clock.advance(20)
    assert crashwindow.run(work, home, "B", clock, "B's", name="B").value is True
    assert seen(home, job) == ("done", 2)
    before = [dict(row) for row in jobs.everything(home)]

    assert a.resume().value is False
    assert [dict(row) for row in jobs.everything(home)] == before
    assert jobs.claim(home, "C", clock()) is None
    assert body_of(home, job) == "B's"


@pytest.mark.pause_at("sample_app.job.claimed")
def test_a_wakes_while_b_is_at_work(crashwindow: CrashWindow, home: Path, job: int) -> None:
    a = crashwindow.run(work, home, "A", crashwindow.clock, "A's", name="A")
    crashwindow.clock.advance(jobs.LEASE)
    b = crashwindow.start(work, home, "B", crashwindow.clock, "B's", name="B", pause_at="sample_app.job.claimed+2")
    b.wait_paused()
    assert a.resume().value is False
    assert seen(home, job) == ("running", 2)
    assert b.resume().value is True
    assert body_of(home, job) == "B's"


@pytest.mark.pause_at("sample_app.job.claimed")
def test_the_heartbeat_of_a_that_woke_late_does_not_extend_the_lease_of_b(
    crashwindow: CrashWindow, home: Path, job: int
) -> None:
    def keep(name: str) -> bool:
        claim = jobs.claim(home, name, crashwindow.clock())
        assert claim
        return jobs.heartbeat(home, job, claim.generation, crashwindow.clock())

    a = crashwindow.run(keep, "worker", name="A")
    crashwindow.clock.advance(jobs.LEASE)
    assert jobs.claim(home, "worker", crashwindow.clock())  # the same name, another process
    before = jobs.get(home, job)["lease_until"]
    crashwindow.clock.advance(5)
    assert a.resume().value is False
    assert jobs.get(home, job)["lease_until"] == before


def test_a_heartbeat_of_the_holder_extends_its_lease(crashwindow: CrashWindow, home: Path, job: int) -> None:
    def work_with_heartbeat() -> bool:
        assert jobs.claim(home, "A", crashwindow.clock())
        crashwindow.clock.advance(20)
        return jobs.heartbeat(home, job, 1, crashwindow.clock())

    assert crashwindow.run(work_with_heartbeat).value is True
    assert jobs.claim(home, "B", 30) is None
    assert jobs.claim(home, "B", 50)


@pytest.mark.crash_at("sample_app.job.claimed")
def test_all_of_it_survives_closing_and_reopening_the_database(crashwindow: CrashWindow, home: Path, job: int) -> None:
    """Each life opens its own connections. Here even the log is folded into the main file in between."""
    crashwindow.run(work, home, "A", crashwindow.clock, "A's")
    with db.app(home) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert seen(home, job) == ("running", 1)
    crashwindow.clock.advance(jobs.LEASE)
    assert crashwindow.run(work, home, "B", crashwindow.clock, "B's").value is True
    with db.app(home) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert seen(home, job) == ("done", 2)
    assert crashwindow.run(reports.finish, home, job, 1, "A's", 31).value is False
    assert jobs.claim(home, "C", 1e6) is None


@pytest.mark.crash_at("sample_app.job.claimed", nth=3)
def test_the_generation_counts_up_and_never_resets(crashwindow: CrashWindow, home: Path, job: int) -> None:
    generations = []
    for _ in range(4):
        crashwindow.run(jobs.claim, home, "A", crashwindow.clock())
        generations.append(seen(home, job)[1])
        crashwindow.clock.advance(jobs.LEASE)
    assert generations == [1, 2, 3, 4]


def test_token_41_that_wakes_after_42_wrote_is_refused_by_the_page_store(crashwindow: CrashWindow, home: Path) -> None:
    def write(token: int, body: str) -> bool:
        jobs.everything(home)  # sees that it still holds the job, and is stopped before it writes
        return pages.write(home, "p", 1, token, body, 0)

    stale = crashwindow.start(write, 41, "stale", pause_at="sample_app.jobs:everything:exit").wait_paused()
    assert crashwindow.run(write, 42, "new").value is True
    assert stale.resume().value is False
    page = pages.read(home, "p")
    assert page
    assert (page["body"], page["generation"]) == ("new", 42)


@pytest.mark.pause_at("sample_app.job.computed")
def test_the_draft_that_was_recorded_first_counts_for_both(crashwindow: CrashWindow, home: Path, job: int) -> None:
    def work_with(name: str, text: str) -> object:
        tools = worker.Tools(model=lambda request: text)
        return worker.work_once(home, name, crashwindow.clock, tools)

    a = crashwindow.run(work_with, "A", "A's answer", name="A")
    crashwindow.clock.advance(jobs.LEASE)
    crashwindow.run(work_with, "B", "B's answer", name="B")
    a.resume()
    assert body_of(home, job) == "B's answer"
