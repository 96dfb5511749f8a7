"""Two stories, played with real processes that really die, told from the databases.

Nothing that is printed was written beforehand: every value is read back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from . import db, jobs, outbox, receiver, reports, worker
from .deaths import dies_at
from .errors import Conflict
from .payloads import Payload, key_of

PAYLOAD: Payload = {
    "customer": "acme",
    "period": "2026-01",
    "input_version": "1",
    "owner": "ada@acme.example",
    "amount": 120050,
    "currency": "EUR",
}


class Hands:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sample-app-") as directory:
        lease_story(Path(directory) / "lease")
        print()
        delivery_story(Path(directory) / "delivery")


def lease_story(home: Path) -> None:
    print("Leases and generations: (state, generation)")
    clock = Hands()
    db.init(home)
    job_id = jobs.register(home, key_of(PAYLOAD), PAYLOAD, clock()).job_id
    say("t=0", "registered", _job(home, job_id))
    _must_die("sample_app.job.claimed", lambda: worker.work_once(home, "A", clock))
    say("t=0", "A claims it and is killed", _job(home, job_id))
    clock.now = 10
    say("t=10", "B asks for a job and gets", jobs.claim(home, "B", clock()))
    clock.now = 30
    claim = jobs.claim(home, "B", clock())
    say("t=30", "B claims generation", claim and claim.generation, _job(home, job_id))
    say("t=30", "A finishes generation 1:", reports.finish(home, job_id, 1, "A's report", clock()))
    say("t=30", "B finishes generation 2:", reports.finish(home, job_id, 2, "B's report", clock()))
    say("t=30", "C asks for a job and gets", jobs.claim(home, "C", clock()), _job(home, job_id))
    report = reports.latest(home, job_id)
    say("t=30", "the report is", report and report["body"])


def delivery_story(home: Path) -> None:
    print("Commit and delivery: done jobs, reports, events, delivered | inbox")
    clock = Hands()
    db.init(home)
    key = key_of(PAYLOAD)
    jobs.register(home, key, PAYLOAD, clock())

    def work() -> object:
        return worker.work_once(home, "A", clock)

    def dispatch() -> object:
        return outbox.dispatch_once(home, clock)

    _must_die("sample_app.outbox.before_commit", work)
    say(_counts(home), "killed before COMMIT")
    clock.now = 30
    _must_die("sample_app.job.committed", work)
    say(_counts(home), "killed after COMMIT, before the answer")
    saved = jobs.register(home, key, PAYLOAD, clock())
    say(_counts(home), "the caller tries again:", "already_committed" if saved.result else saved.state)
    say(_counts(home), "the same key with another input:", _try_another(home, key, clock()))
    _must_die("sample_app.receiver.committed", dispatch)
    say(_counts(home), "killed after the receiver committed")
    say(_counts(home), "the same event again:", _offer_again(home, clock()))
    dispatch()
    say(_counts(home), "dispatched")


def say(when: str, *what: object) -> None:
    print(f"  {when:<13}", *what)


def _must_die(point: str, act: Callable[[], object]) -> None:
    if not dies_at(point, act):
        raise RuntimeError(f"{point} was not passed")


def _job(home: Path, job_id: int) -> tuple[str, int]:
    row = jobs.get(home, job_id)
    return (row["state"], row["generation"])


def _counts(home: Path) -> str:
    with db.app(home) as conn:
        done, made, sent, arrived = conn.execute(
            "SELECT (SELECT count(*) FROM jobs WHERE state = 'done'),"
            " (SELECT count(*) FROM reports), (SELECT count(*) FROM outbox),"
            " (SELECT count(*) FROM outbox WHERE delivered_at IS NOT NULL)"
        ).fetchone()
    return f"{done} {made} {sent} {arrived} | {len(receiver.inbox(home))}"


def _try_another(home: Path, key: str, now: float) -> str:
    try:
        jobs.register(home, key, {**PAYLOAD, "amount": 1}, now)
    except Conflict:
        return "conflict"
    return "accepted"


def _offer_again(home: Path, now: float) -> str:
    [event] = outbox.pending(home)
    payload = outbox.payload_of(event)
    answer = receiver.receive(home, event["event_id"], payload, now)
    return "accepted" if answer.first else "duplicate"
