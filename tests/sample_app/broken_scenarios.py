"""For each broken variant: what is set up, what runs in the life that breaks, and what must hold afterwards.

The same scenario is played with the variant and with its correct twin. What comes after the broken life is
played in the test body: a process that has nothing in its memory of what the life did.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_crashwindow import CrashWindow
from sample_app import (
    approvals,
    db,
    dead_letters,
    editing,
    events,
    intents,
    jobs,
    migrations,
    outbox,
    pages,
    receiver,
    recorded,
    reports,
    retention,
    settings,
    ticket_effect,
    worker,
)
from sample_app.broken import cancel_in_memory
from sample_app.demo import PAYLOAD, Hands
from sample_app.errors import AppError, SafeToRetry
from sample_app.publishing import work_on_publication
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import ledger

from .office import LOCKED, SERVICE_POINTS, Service

Part = Callable[..., Any]
CREATE = "sample_app.ticket_client:TicketClient.create"


@dataclass
class World:
    """What a scenario has at hand."""

    home: Path
    clock: Any = field(default_factory=Hands)
    client: TicketClient = field(default_factory=lambda: TicketClient(""))
    window: str | None = None
    resume: Callable[[], object] = lambda: None
    notes: dict[str, Any] = field(default_factory=dict)

    def at(self, now: float) -> None:
        self.clock.advance(now - self.clock())


class Scenario:
    """One life, broken in every window of one fault, and the invariant."""

    mode: str | None = None
    """of the ticket service; None = none is needed"""
    fault = "crash"

    @property
    def marker(self) -> dict[str, Any]:
        """What the sweep tries: the points of the life; those of the ticket service are another story."""
        service = [f"!{point}" for point in sorted(SERVICE_POINTS)]
        locked = LOCKED if self.fault == "pause" else ()
        return {self.fault: ["sample_app.*", *service, *locked]}

    def setup(self, world: World) -> None:
        db.init(world.home)
        world.notes["job"] = jobs.register(world.home, "k", PAYLOAD, 0).job_id

    def life(self, world: World, part: Part) -> None:
        raise NotImplementedError

    def after(self, world: World, part: Part) -> None:
        raise NotImplementedError

    def play(self, crashwindow: CrashWindow, world: World, part: Part) -> None:
        """The body of the test."""
        world.clock = crashwindow.clock
        world.window = str(crashwindow.window) if crashwindow.window else None
        if self.mode is not None:
            world.client = Service(crashwindow, world.home, self.mode).start().client()
        life = crashwindow.run(self.life, world, part, name="life")
        world.resume = life.resume
        self.after(world, part)
        life.resume()
        if life.outcome == "raised":
            raise life.value


class Publication(Scenario):
    """One ticket and a page; or set aside, with an intent that explains it."""

    def __init__(self, mode: str = "keys") -> None:
        self.mode = mode

    def setup(self, world: World) -> None:
        super().setup(world)
        worker.work_once(world.home, "A", world.clock)
        approvals.set_person(world.home, "bo", "secret", True)
        request = approvals.request(world.home, world.notes["job"], "ada", "bo", 0)
        row = approvals.get(world.home, request)
        approvals.answer(world.home, request, "bo", "secret", True, 1, row["action_hash"], 0)
        world.notes["publish"] = row["publish_job_id"]

    def life(self, world: World, part: Part) -> None:
        claim = jobs.claim(world.home, "A", world.clock())
        if claim is not None:
            self.work(world, claim, part)

    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        part(world.home, claim, world.client, world.clock)

    def after(self, world: World, part: Part) -> None:
        for _ in range(2):
            world.clock.advance(31)
            self.life(world, part)
        tickets = ledger(world.home)
        state = jobs.get(world.home, world.notes["publish"])["state"]
        assert len(tickets) <= 1
        if state == "uncertain":
            intent = intents.of_job(world.home, world.notes["publish"])
            assert intent
            assert intent.state in ("sent", "unknown")
        else:
            assert (state, len(tickets)) == ("done", 1)
            assert pages.read(world.home, "k")


class Effect(Publication):
    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        work_on_publication(world.home, claim, world.client, world.clock, part)


class Timeout(Effect):
    """The request gets through and its answer doesn't. One ticket, or a job that waits for a person."""

    @property
    def marker(self) -> dict[str, Any]:
        return {"lost_ack": CREATE, "calls": [CREATE]}

    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        with contextlib.suppress(SafeToRetry):
            super().work(world, claim, part)


class Approval(Publication):
    """What is approved changes while the worker is away: nothing new may start."""

    def __init__(self, change: Callable[[World], object]) -> None:
        super().__init__()
        self.change = change

    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        gated = functools.partial(ticket_effect.ensure, gate=part)
        work_on_publication(world.home, claim, world.client, world.clock, gated)

    def after(self, world: World, part: Part) -> None:
        before = len(ledger(world.home))
        self.change(world)
        world.at(31)
        self.life(world, part)
        assert len(ledger(world.home)) == before


def edit(world: World) -> None:
    editing.edit(world.home, world.notes["job"], "something else", 1)


def correct_currency(world: World) -> None:
    """By hand, as somebody does who finds it wrong. The text of the report stays."""
    with db.app(world.home) as conn, db.transaction(conn):
        conn.execute("UPDATE jobs SET currency = 'JPY' WHERE job_id = ?", (world.notes["job"],))


class Report(Scenario):
    """One report, one event, one notice; and at no time a notice without its report."""

    def life(self, world: World, part: Part) -> None:
        claim = jobs.claim(world.home, "A", world.clock())
        if claim is not None:
            self.work(world, claim, part)

    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        part(world.home, claim, world.clock)

    def after(self, world: World, part: Part) -> None:
        assert len(receiver.notifications(world.home)) <= self.reports(world)
        world.at(31)
        self.life(world, part)
        outbox.dispatch_once(world.home, world.clock)
        assert self.reports(world) == 1
        assert len(receiver.notifications(world.home)) == 1
        assert jobs.get(world.home, world.notes["job"])["state"] == "done"

    def reports(self, world: World) -> int:
        with db.app(world.home) as conn:
            return int(conn.execute("SELECT count(*) FROM reports").fetchone()[0])


class Finish(Report):
    def work(self, world: World, claim: jobs.Claim, part: Part) -> None:
        part(world.home, claim.job_id, claim.generation, "body", world.clock())


class StaleWorker(Scenario):
    """A is paused past its lease and wakes while B is at work. B's result counts."""

    fault = "pause"

    def __init__(self, exchanged: str) -> None:
        self.exchanged = exchanged

    def claim(self, world: World, name: str, part: Part) -> jobs.Claim | None:
        claim = part if self.exchanged == "claim" else jobs.claim
        result: jobs.Claim | None = claim(world.home, name, world.clock())
        return result

    def finish(self, world: World, claim: jobs.Claim, body: str, part: Part) -> bool:
        finish = part if self.exchanged == "finish" else reports.finish
        result: bool = finish(world.home, claim.job_id, claim.generation, body, world.clock())
        return result

    def life(self, world: World, part: Part) -> None:
        claim = self.claim(world, "A", part)
        assert claim
        recorded.once(world.home, claim.job_id, "draft", lambda: "a draft", world.clock())
        self.finish(world, claim, "A's", part)

    def after(self, world: World, part: Part) -> None:
        world.at(31)
        claim = self.claim(world, "B", part)
        world.resume()
        if claim is not None:
            assert self.finish(world, claim, "B's", part)
            report = reports.latest(world.home, claim.job_id)
            assert report
            assert report["body"] == "B's"


class Heartbeat(Scenario):
    """Its successor has the same name. The lease is the successor's."""

    fault = "pause"

    def life(self, world: World, part: Part) -> None:
        claim = jobs.claim(world.home, "worker", world.clock())
        assert claim
        part(world.home, claim.job_id, claim.generation, world.clock() + 20)

    def after(self, world: World, part: Part) -> None:
        world.at(51)
        claim = jobs.claim(world.home, "worker", world.clock())
        assert claim
        before = jobs.get(world.home, claim.job_id)["lease_until"]
        world.resume()
        assert jobs.get(world.home, claim.job_id)["lease_until"] == before


class Gateway(Scenario):
    """41 wakes after 42 wrote."""

    fault = "pause"

    def life(self, world: World, part: Part) -> None:
        part(world.home, "p", 1, 41, "stale", 0)

    def after(self, world: World, part: Part) -> None:
        part(world.home, "p", 1, 42, "new", 0)
        world.resume()
        page = pages.read(world.home, "p")
        assert page
        assert page["body"] == "new"


class Cancel(Scenario):
    """Once it's requested, nothing new starts, in whatever process."""

    def life(self, world: World, part: Part) -> None:
        part(world.home, world.notes["job"], 0)
        self.work(world)

    def work(self, world: World) -> None:
        if world.notes["job"] not in cancel_in_memory.stopped:
            worker.work_once(world.home, "A", world.clock)

    def after(self, world: World, part: Part) -> None:
        if world.window and ".before_requested" in world.window:
            return  # nobody has been promised anything yet
        world.at(31)
        if world.window is not None:
            self.work(world)
        assert jobs.get(world.home, world.notes["job"])["state"] != "done"


class Reap(Scenario):
    """A heartbeat that was accepted keeps the job with its worker."""

    fault = "pause"

    def setup(self, world: World) -> None:
        super().setup(world)
        jobs.claim(world.home, "A", 0)

    def life(self, world: World, part: Part) -> None:
        part(world.home, 30)

    def after(self, world: World, part: Part) -> None:
        accepted = jobs.heartbeat(world.home, world.notes["job"], 1, 30)
        world.resume()
        state = jobs.get(world.home, world.notes["job"])["state"]
        assert state == "running" if accepted else "pending"


class Requeue(Scenario):
    """In the queue, or among the letters."""

    def setup(self, world: World) -> None:
        super().setup(world)
        jobs.claim(world.home, "A", 0)
        with db.app(world.home) as conn, db.transaction(conn):
            dead_letters.bury(conn, world.notes["job"], 1, "for the test", 0)

    def life(self, world: World, part: Part) -> None:
        part(world.home, world.notes["job"], 0)

    def after(self, world: World, part: Part) -> None:
        queued = jobs.get(world.home, world.notes["job"])["state"] == "pending"
        assert queued or dead_letters.letters(world.home)


class Purge(Scenario):
    """However late an event comes again, its owner is told once."""

    def setup(self, world: World) -> None:
        super().setup(world)
        worker.work_once(world.home, "A", world.clock)

    def life(self, world: World, part: Part) -> None:
        outbox.dispatch_once(world.home, world.clock)

    def after(self, world: World, part: Part) -> None:
        keep = retention.Policy().keep + 1
        world.at(2 * keep)
        part(world.home, keep, world.clock())
        outbox.dispatch_once(world.home, world.clock)
        assert len(receiver.notifications(world.home)) == 1


class Backup(Scenario):
    """A copy has what was committed when it was made."""

    def life(self, world: World, part: Part) -> None:
        worker.work_once(world.home, "A", world.clock)

    def after(self, world: World, part: Part) -> None:
        copy = world.home / "copy.db"
        part(world.home, copy)
        assert _rows(copy) == _rows(db.path_of(world.home, "app"))


def _rows(path: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(path)) as conn:
        return list(conn.iterdump())


class Migration(Scenario):
    """After the next start every row is migrated."""

    def setup(self, world: World) -> None:
        db.init(world.home)
        path = db.path_of(world.home, "app")
        path.unlink()
        with db.connect(path, create=True) as conn, db.transaction(conn):
            db.create_schema(conn, migrations.schema_v1(), 1)
            for job_id, payload in ((1, '{"currency": "EUR"}'), (2, '{"text": "5 CHF"}'), (3, "{}")):
                conn.execute(
                    "INSERT INTO jobs (kind, task_key, payload, payload_hash, amount, claim_limit,"
                    " worker_version, prompt_version, schema_version, input_digest, registered_at)"
                    " VALUES ('report', ?, ?, '', 5, 50, '0', '0', '1', '', 0)",
                    (f"k{job_id}", payload),
                )
                events.append(conn, job_id, "job.registered", 0)

    def life(self, world: World, part: Part) -> None:
        part(world.home, 1)

    def after(self, world: World, part: Part) -> None:
        part(world.home, 2)
        rows = jobs.everything(world.home)
        assert [row["currency"] for row in rows] == ["EUR", "CHF", None]
        assert [row["state"] for row in rows] == ["pending", "pending", "needs_info"]


class SaveSettings(Scenario):
    """The old or the new."""

    old, new = settings.Settings(lease=1), settings.Settings(lease=2)

    def setup(self, world: World) -> None:
        settings.save(world.home, self.old)

    def life(self, world: World, part: Part) -> None:
        part(world.home, self.new)

    def after(self, world: World, part: Part) -> None:
        try:
            assert settings.load(world.home) in (self.old, self.new)
        except AppError as error:
            raise AssertionError(str(error)) from error


class Receive(Scenario):
    """However often it's offered, the owner is told once."""

    def setup(self, world: World) -> None:
        super().setup(world)
        worker.work_once(world.home, "A", world.clock)

    def life(self, world: World, part: Part) -> None:
        outbox.dispatch_once(world.home, world.clock, part)

    def after(self, world: World, part: Part) -> None:
        self.life(world, part)
        assert len(receiver.notifications(world.home)) == 1
        assert outbox.pending(world.home) == []


SCENARIOS: dict[str, Scenario] = {
    "approval_of_text_only": Approval(correct_currency),
    "approval_flag": Approval(edit),
    "attempt_id_as_key": Effect(),
    "backup_of_main_file": Backup(),
    "cancel_in_memory": Cancel(),
    "check_then_forward": Gateway(),
    "effect_before_record": Effect("none"),
    "generation_resets": StaleWorker("claim"),
    "heartbeat_by_name": Heartbeat(),
    "lease_without_generation": StaleWorker("finish"),
    "letter_deleted_first": Requeue(),
    "mark_before_work": Report(),
    "migration_in_two": Migration(),
    "new_operation_id": Effect(),
    "outbox_sent_inside": Finish(),
    "outbox_outside": Finish(),
    "purge_by_age": Purge(),
    "reaper_without_recheck": Reap(),
    "receiver_in_memory": Receive(),
    "receiver_marks_first": Receive(),
    "settings_in_place": SaveSettings(),
    "step_after_act": Publication("none"),
    "step_before_act": Publication(),
    "timeout_is_failure": Timeout("none"),
}


def variant_and_twin(name: str) -> tuple[Any, Part, Part]:
    """The module of a variant, its function, and the correct one."""
    module = importlib.import_module(f"sample_app.broken.{name}")
    home, _, function = module.TWIN.partition(":")
    return module, getattr(module, function), getattr(importlib.import_module(home), function)
