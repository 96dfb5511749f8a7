"""Two workers, two dispatchers, two reconcilers at once on the same databases, killed at random for 200 rounds.

In each round one job comes in, one finished report is approved, and one of the seven processes (the ticket
service is the seventh) is killed at a random instant and started again. The seed decides who and when; what
the processes make of it differs from run to run, and the invariants have to hold in all of them.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow, Life
from sample_app import (
    approvals,
    db,
    events,
    intents,
    jobs,
    outbox,
    pages,
    receiver,
    reconcile,
    reports,
    resolve,
    worker,
)
from sample_app.demo import PAYLOAD
from sample_app.errors import ClockWentBack, Refused, Transient
from sample_app.ticket_desk import ledger

from .office import Service, people

ROUNDS = 200
SEED = 20260101
TICK = 4.0  # seconds that a round takes, by the clock of the app; a lease is 30


class Crew:
    """The processes, by name."""

    def __init__(self, crashwindow: CrashWindow, home: Path, mode: str) -> None:
        self.crashwindow, self.home, self.clock = crashwindow, home, crashwindow.clock
        self.stop = home / "stop"
        self.service = Service(crashwindow, home, mode).start()
        self.tools = worker.Tools(self.service.client())
        client = self.service.client()
        self.acts: dict[str, Callable[[], object]] = {
            **{f"worker {n}": lambda n=n: worker.work_once(home, f"W{n}", self.clock, self.tools) for n in (1, 2)},
            **{f"dispatcher {n}": lambda: outbox.dispatch_once(home, self.clock) for n in (1, 2)},
            **{f"reconciler {n}": lambda: reconcile.reconcile_once(home, client, self.clock) for n in (1, 2)},
        }
        self.lives: dict[str, Life] = {}
        self.killed: Counter[str] = Counter()
        for name in self.acts:
            self.start(name)

    def start(self, name: str) -> None:
        self.lives[name] = self.crashwindow.start(self._go_on, self.acts[name], name=name)

    def kill(self, name: str) -> None:
        self.killed[name] += 1
        if name == "tickets":
            assert self.service.life is not None
            self.service.life.kill()
            self.service.start()
        else:
            self.lives[name].kill()
            self.start(name)

    def end(self) -> None:
        """Let all of them finish what they are doing; none may have failed."""
        self.stop.touch()
        for life in self.lives.values():
            life.wait().value  # noqa: B018 - raises what the life raised

    def _go_on(self, act: Callable[[], object]) -> None:
        while not self.stop.exists():
            try:
                if not act():
                    time.sleep(0.001)  # nothing to do: leaves the processor to others
            except (Transient, OSError, ClockWentBack):
                continue  # as after a death: look into the database again


def submit(home: Path, number: int, now: float) -> None:
    payload = {**PAYLOAD, "period": f"2026-{number:03}"}
    jobs.register(home, f"job-{number}", payload, now)


def approve_one(home: Path, now: float) -> None:
    """Ask for, and give, the approval of the oldest finished report that has none yet."""
    with db.app(home) as conn:
        found = conn.execute(
            "SELECT job_id FROM jobs WHERE kind = 'report' AND state = 'done'"
            " AND job_id NOT IN (SELECT job_id FROM approvals WHERE state = 'approved') ORDER BY job_id LIMIT 1"
        ).fetchone()
    if found is not None:
        row = approvals.get(home, approvals.request(home, found["job_id"], "ada", "bo", now))
        approvals.answer(home, row["request_id"], "bo", "secret", True, row["report_version"], row["action_hash"], now)


def retried(act: Callable[[], None]) -> None:
    for _ in range(50):
        try:
            return act()
        except Transient:
            continue
    raise AssertionError("busy all the time")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("mode", "rounds"), [("keys", ROUNDS), ("none", ROUNDS // 4)], ids=["keys", "none"])
def test_random_kills_lose_nothing_and_do_nothing_twice(
    crashwindow: CrashWindow, fast_home: Path, capsys: pytest.CaptureFixture[str], record_property: object,
    mode: str, rounds: int,
) -> None:  # fmt: skip
    people(fast_home)
    chance = random.Random(SEED)
    crew = Crew(crashwindow, fast_home, mode)
    names = [*crew.acts, "tickets"]
    for number in range(rounds):
        now = crashwindow.clock.advance(TICK)
        retried(lambda number=number, now=now: submit(fast_home, number, now))
        retried(lambda now=now: approve_one(fast_home, now))
        time.sleep(chance.uniform(0, 0.02))  # the random instant
        crew.kill(chance.choice(names))
    crew.end()
    uncertain = settle(fast_home, crew, rounds)
    figure = check(fast_home, crew, rounds) + f", {uncertain} uncertain, each explained by its intent"
    record_property("random kills", figure)  # type: ignore[operator]
    with capsys.disabled():
        print(f"\n{mode}: {figure}")


def settle(home: Path, crew: Crew, rounds: int) -> int:
    """Bring everything to its end; the number of jobs that a person had to decide about."""
    decided = set()
    for _ in range(2 * rounds):
        crew.clock.advance(jobs.LEASE)
        worker.run_until_idle(home, "Z", crew.clock, crew.clock.advance, crew.tools)
        for row in jobs.everything(home):
            if row["state"] == "uncertain":
                decided.add(row["job_id"])
                decide(home, row["job_id"], crew.clock())
        with db.app(home) as conn:
            left = conn.execute(
                "SELECT count(*) FROM jobs WHERE kind = 'report' AND job_id NOT IN (SELECT job_id FROM approvals)"
            ).fetchone()[0]
        if left:
            approve_one(home, crew.clock())
        elif all(row["state"] == "done" for row in jobs.everything(home)):
            break
    return len(decided)


def decide(home: Path, job_id: int, now: float) -> None:
    """As an operator who compares the intent with the service's ledger."""
    intent = intents.of_job(home, job_id)
    assert intent is not None
    assert intent.state in ("sent", "unknown", "confirmed", "prepared")
    found = [t["ticket_id"] for t in ledger(home) if t["title"] == intent.parameters["title"]]
    assert len(found) <= 1
    try:
        if found:
            resolve.happened(home, job_id, found[0], "ledger", now)
        else:
            resolve.did_not_happen(home, job_id, "ledger", now)
    except Refused:
        assert jobs.get(home, job_id)["state"] != "uncertain"


def check(home: Path, crew: Crew, rounds: int) -> str:
    rows = jobs.everything(home)
    assert Counter((row["kind"], row["state"]) for row in rows) == {
        ("report", "done"): rounds,
        ("publish", "done"): rounds,
    }, "no job is lost"
    assert set(Counter(ticket["title"] for ticket in ledger(home)).values()) == {1}, "one ticket for each"
    assert len(ledger(home)) == rounds
    told = Counter(event for event, _ in receiver.notifications(home))
    assert set(told.values()) == {1}, "everybody is told once"
    assert len(told) == 2 * rounds
    assert outbox.pending(home) == []
    for row in rows:
        if row["kind"] == "report":
            report, page = reports.latest(home, row["job_id"]), pages.read(home, row["task_key"])
            assert report is not None
            assert page is not None
            assert (page["body"], page["version"]) == (report["body"], 1)
    assert finishes(home) == {row["job_id"]: row["generation"] for row in rows}, "no stale write"
    assert events.differences(home) == []
    killed = ", ".join(f"{name} {crew.killed[name]}" for name in [*crew.acts, "tickets"])
    claims = sum(row["generation"] for row in rows)
    return (
        f"{rounds} rounds, {sum(crew.killed.values())} processes killed ({killed}), {len(rows)} jobs done once"
        f" in {claims} claims, {len(ledger(home))} tickets, {len(told)} notices"
    )


def finishes(home: Path) -> dict[int, int]:
    """For each job, the generation that was the newest when it was finished; it's finished once."""
    generation: dict[int, int] = {}
    finished: dict[int, int] = {}
    for job_id, kind, data in events.history(home):
        if kind == "job.claimed":
            assert job_id not in finished
            generation[job_id] = data["new_generation"]
        if kind == "job.finished":
            assert job_id not in finished
            finished[job_id] = generation[job_id]
    return finished
