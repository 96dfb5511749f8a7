"""An installation of the sample app as tests see it: its people, its ticket service, and what must hold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pytest_crashwindow import CrashWindow, Life
from sample_app import approvals, db, events, intents, jobs, outbox, pages, receiver, reports, resolve, worker
from sample_app.demo import PAYLOAD
from sample_app.payloads import key_of
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import RETENTION, Desk, ledger
from sample_app.ticket_server import TicketServer

KEY = key_of(PAYLOAD)
MODES = ("keys", "search", "none")
PATIENCE = 20.0  # seconds of a client for an answer
IMPATIENCE = 0.25  # the same, where the service is going to be stopped and no answer can come

# Points inside a write transaction: who is stopped there keeps everybody else out.
LOCKED = (
    "!sample_app.*.before_*",
    "!sample_app.dead_letter.requeued",
    "!sample_app.migration.altered",
    "!sample_app.migration.job_migrated",
    "!sample_app.purge.*forgot",
)


class Facts(NamedTuple):
    """Four facts of four places, counted."""

    done: int
    reports: int
    events: int
    inbox: int


def facts(home: Path) -> Facts:
    """What the databases say."""
    with db.app(home) as conn:
        counted = conn.execute(
            "SELECT (SELECT count(*) FROM jobs WHERE state = 'done'), (SELECT count(*) FROM reports),"
            " (SELECT count(*) FROM outbox)"
        ).fetchone()
    return Facts(*counted, len(receiver.inbox(home)))


@dataclass
class Service:
    """The ticket service: an HTTP server in a life of its own, that can be started again at its address."""

    crashwindow: CrashWindow
    home: Path
    mode: str = "keys"
    retention: float = RETENTION
    port: int = 0
    life: Life | None = None
    recovered: bool = False

    def start(self, **faults: Any) -> Service:
        # It listens before it is forked, so nobody has to wait for it; then the socket is the life's alone.
        server = TicketServer(Desk(self.home, self.crashwindow.clock, self.mode, self.retention), self.port)
        try:
            self.port = server.server_address[1]
            self.life = self.crashwindow.start(server.serve_forever, 0.01, name="tickets", **faults)
        finally:
            server.server_close()
        return self

    def client(self) -> TicketClient:
        window = self.crashwindow.window
        step = window.steps[-1] if window is not None and not self.recovered else None
        stopped = step is not None and step.fault == "pause" and step.point in SERVICE_POINTS
        patience = IMPATIENCE if stopped else PATIENCE
        url = f"http://127.0.0.1:{self.port}"
        return TicketClient(url, mode=self.mode, retention=self.retention, timeout=patience)

    @property
    def died(self) -> bool:
        return self.life is not None and (self.life.crashed or self.life.outcome == "killed")

    def recover(self) -> None:
        """Start it again if it died; wake it if it was paused, and let it end what it was doing."""
        life = self.life
        assert life is not None
        self.recovered = True
        if self.died:
            self.start()
        elif life.paused:
            life.resume(wait=False)
            until(lambda: "sample_app.ticket.stored+1" in life.hits)


SERVICE_POINTS = frozenset(f"sample_app.ticket.{name}" for name in ("received", "before_stored", "stored", "cancelled"))


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)


@dataclass
class Office:
    """One installation, with the people who use it. Every act may be repeated."""

    home: Path
    clock: Any  # with `advance`
    client: Callable[[], TicketClient]

    def life(self, name: str = "A") -> None:
        """From the request to the notice: submit, compute, approve, ticket, publish, notify."""
        self.submit()
        self.work(name)
        self.approve()
        self.work(name)

    def submit(self) -> int:
        return jobs.register(self.home, KEY, PAYLOAD, self.clock()).job_id

    def approve(self) -> None:
        request = approvals.request(self.home, self.submit(), "ada", "bo", self.clock())
        row = approvals.get(self.home, request)
        version, wanted = row["report_version"], row["action_hash"]
        approvals.answer(self.home, request, "bo", "secret", True, version, wanted, self.clock())

    def work(self, name: str = "A") -> None:
        worker.run_until_idle(self.home, name, self.clock, self.clock.advance, worker.Tools(self.client()))

    def settle_by_hand(self) -> bool:
        """What an operator does who has looked into the service's ledger. Whether there was a need."""
        uncertain = [row["job_id"] for row in jobs.everything(self.home) if row["state"] == "uncertain"]
        for job_id in uncertain:
            assert intents.of_job(self.home, job_id), "an uncertain job is explained by its intent"
            assert jobs.claim(self.home, "C", self.clock() + 1000) is None, "and never claimed again"
            tickets = [ticket["ticket_id"] for ticket in ledger(self.home)]
            if tickets:
                resolve.happened(self.home, job_id, tickets[0], "ledger", self.clock())
            else:
                resolve.did_not_happen(self.home, job_id, "ledger", self.clock())
        return bool(uncertain)

    def unfinished(self) -> bool:
        """Whether a job, an event or an approval is left to do."""
        states = [row["state"] for row in jobs.everything(self.home)]
        return states != ["done", "done"] or bool(outbox.pending(self.home))

    def facts(self) -> Facts:
        return facts(self.home)

    def check(self) -> None:
        """Everything happened, and nothing twice."""
        assert [row["state"] for row in jobs.everything(self.home)] == ["done", "done"]
        assert len(ledger(self.home)) == 1
        report, page = reports.latest(self.home, 1), pages.read(self.home, KEY)
        assert report is not None
        assert page is not None
        publication = jobs.everything(self.home)[1]
        assert (page["body"], page["generation"]) == (report["body"], publication["generation"])
        assert outbox.pending(self.home) == []
        assert facts(self.home)[:3] == (2, 1, 2)
        assert len(receiver.notifications(self.home)) == 2
        assert events.differences(self.home) == []


def people(home: Path) -> None:
    approvals.set_person(home, "bo", "secret", True)
