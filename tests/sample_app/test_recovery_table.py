"""The recovery table, row by row: what recovery reads, what it does, and what must not happen.

Each row is a function: it breaks the app at the row's point, shows the evidence that is left, recovers,
and asserts. The four pauses of the classic exercise follow as tests of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow import CrashWindow, Life
from sample_app import (
    approvals,
    cancel,
    db,
    editing,
    events,
    intents,
    jobs,
    migrations,
    outbox,
    pages,
    receiver,
    reports,
    worker,
)
from sample_app.demo import PAYLOAD
from sample_app.errors import Conflict
from sample_app.ticket_desk import ledger

from .office import KEY, Facts, Office, Service, facts, people


@dataclass
class Case:
    """One installation that is broken once."""

    crashwindow: CrashWindow
    home: Path
    mode: str = "keys"

    def __post_init__(self) -> None:
        self.clock = self.crashwindow.clock
        self.service = Service(self.crashwindow, self.home, self.mode).start()
        self.office = Office(self.home, self.clock, self.service.client)

    def dies(self, point: str, act: Callable[..., object], *args: object) -> None:
        assert self.crashwindow.run(act, *args, crash_at=point).crashed

    def evidence(self, **found: object) -> None:
        """What recovery will find, for the report of the test."""
        self.crashwindow.observe("evidence", found)

    def work_once(self, name: str = "A", tools: worker.Tools | None = None) -> Life:
        """One turn, in a life of its own."""
        tools = tools or worker.Tools(self.service.client())
        return self.crashwindow.run(worker.work_once, self.home, name, self.clock, tools)

    def dies_at_work(self, point: str) -> None:
        tools = worker.Tools(self.service.client())
        self.dies(point, worker.work_once, self.home, "A", self.clock, tools)

    def recover(self) -> Life:
        """What a supervisor starts: work until nothing is left, after the dead one's lease."""
        self.clock.advance(jobs.LEASE)
        life = self.crashwindow.run(self.office.work, "B")
        assert life.outcome == "returned"
        return life

    def publishable(self) -> int:
        """A job that publishes an approved report; nobody has begun it."""
        self.office.submit()
        worker.run_until_idle(self.home, "A", self.clock, self.clock.advance)
        self.office.approve()
        return int(jobs.everything(self.home)[-1]["job_id"])

    def intent(self) -> intents.Intent:
        found = intents.of_job(self.home, 2)
        assert found
        return found

    def state(self, job: int) -> str:
        return str(jobs.get(self.home, job)["state"])

    def everything(self) -> list[str]:
        """All of app.db, as text."""
        with db.app(self.home) as conn:
            return list(conn.iterdump())


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    where: str
    evidence: str
    recovery: str
    forbidden: str
    play: Callable[[Case], None]
    mode: str = "keys"


ROWS: list[Row] = []


def row(where: str, *, evidence: str, recovery: str, forbidden: str, mode: str = "keys") -> Any:
    def add(play: Callable[[Case], None]) -> Callable[[Case], None]:
        ROWS.append(Row(where, evidence, recovery, forbidden, play, mode))
        return play

    return add


@row(
    "computing, nothing committed",
    evidence="no report; the job is running under a lease",
    recovery="compute again",
    forbidden="nothing to forbid: nothing was done",
)
def _(case: Case) -> None:
    case.office.submit()
    case.dies_at_work("sample_app.job.computed")
    assert facts(case.home) == Facts(0, 0, 0, 0)
    case.evidence(job=case.state(1), reports=0)
    case.recover()
    assert facts(case.home) == Facts(1, 1, 1, 1)


@row(
    "before the local COMMIT",
    evidence="the transaction rolled back; the recorded draft is there",
    recovery="the short transaction again",
    forbidden="calling the model again",
)
def _(case: Case) -> None:
    case.office.submit()
    case.dies_at_work("sample_app.outbox.before_commit")
    with db.app(case.home) as conn:
        [draft] = [tuple(found) for found in conn.execute("SELECT step, value FROM recorded")]
    case.evidence(draft=draft, reports=0)
    assert facts(case.home) == Facts(0, 0, 0, 0)
    case.clock.advance(jobs.LEASE)

    def model(request: dict[str, Any]) -> str:
        raise AssertionError("the model was called again")

    case.work_once("B", worker.Tools(model=model)).value  # noqa: B018 - raises what the life raised
    report = reports.latest(case.home, 1)
    assert report
    assert report["body"] == draft[1]
    assert facts(case.home) == Facts(1, 1, 1, 0)


@row(
    "COMMIT done, reply lost",
    evidence="the key is there, and the payload's hash is the same",
    recovery="return the saved result",
    forbidden="writing again",
)
def _(case: Case) -> None:
    case.office.submit()
    case.dies_at_work("sample_app.job.committed")
    before = case.everything()
    saved = case.crashwindow.run(jobs.register, case.home, KEY, PAYLOAD, case.clock()).value
    case.evidence(new=saved.new, state=saved.state)
    assert (saved.new, saved.state) == (False, "done")
    assert saved.result
    assert case.work_once("B").value is None
    assert case.everything() == before


@row(
    "COMMIT done, not dispatched",
    evidence="the event is pending",
    recovery="dispatch it",
    forbidden="a new event id",
)
def _(case: Case) -> None:
    case.office.submit()
    case.work_once()
    case.dies("sample_app.outbox.picked", outbox.dispatch_once, case.home, case.clock)
    [pending] = [found["event_id"] for found in outbox.pending(case.home)]
    case.evidence(pending=pending, inbox=[])
    assert receiver.inbox(case.home) == []
    case.recover()
    assert receiver.inbox(case.home) == [pending]
    assert outbox.pending(case.home) == []


def _redelivered(case: Case, point: str) -> None:
    case.office.submit()
    case.work_once()
    case.dies(point, outbox.dispatch_once, case.home, case.clock)
    [pending] = [found["event_id"] for found in outbox.pending(case.home)]
    case.evidence(pending=pending, inbox=receiver.inbox(case.home))
    assert receiver.inbox(case.home) == [pending]
    told = receiver.notifications(case.home)
    life = case.recover()
    assert "sample_app.receiver.received+2" in life.hits
    assert receiver.notifications(case.home) == told
    assert (receiver.inbox(case.home), outbox.pending(case.home)) == ([pending], [])


@row(
    "receiver committed, sender unaware",
    evidence="the inbox has the event's id",
    recovery="the same event again; the first answer comes back",
    forbidden="a second business row",
)
def _(case: Case) -> None:
    _redelivered(case, "sample_app.receiver.committed")


@row(
    "receiver answered, mark not saved",
    evidence="the event is pending, and may be a repeat",
    recovery="the same event again; the first answer comes back",
    forbidden="a second business row",
)
def _(case: Case) -> None:
    _redelivered(case, "sample_app.outbox.before_marked")


@row(
    "intent committed, not sent",
    evidence="the intent is `prepared`",
    recovery="query, then send under the same operation id",
    forbidden="a new operation id",
)
def _(case: Case) -> None:
    case.publishable()
    case.dies_at_work("sample_app.intent.committed")
    before = case.intent()
    case.evidence(intent=before.state, operation_id=before.operation_id)
    assert (before.state, ledger(case.home)) == ("prepared", [])
    hits = case.recover().hits
    assert hits.index("sample_app.ticket.looked_up+1") < hits.index("sample_app.intent.sent+1")
    assert [ticket["operation_id"] for ticket in ledger(case.home)] == [before.operation_id]
    assert case.intent().operation_id == before.operation_id
    case.office.check()


@row(
    "sent, outcome unknown",
    evidence="the intent is `sent`; the service remembers keys and has no ticket",
    recovery="the same request under the same key",
    forbidden="another key, a second ticket",
)
def _(case: Case) -> None:
    case.publishable()
    case.dies_at_work("sample_app.intent.sent")
    case.evidence(intent=case.intent().state)
    assert case.intent().state == "sent"
    hits = case.recover().hits
    assert hits.index("sample_app.ticket.looked_up+1") < hits.index("sample_app.intent.prepared_again+1")
    assert [ticket["operation_id"] for ticket in ledger(case.home)] == [case.intent().operation_id]
    case.office.check()


def _set_aside(case: Case) -> None:
    job = case.publishable()
    case.dies_at_work("sample_app.intent.sent")
    assert case.intent().state == "sent"
    case.recover()
    case.evidence(intent=case.intent().state, job=case.state(job))
    assert (case.state(job), case.intent().state) == ("uncertain", "unknown")
    assert ledger(case.home) == []  # not sent blindly
    assert case.crashwindow.run(jobs.claim, case.home, "C", 1e6).value is None


@row(
    "sent, outcome unknown, service can be searched only",
    evidence="the intent is `sent`; the search finds nothing, yet a request may be on its way",
    recovery="the job becomes uncertain",
    forbidden="sending blindly",
    mode="search",
)
def _(case: Case) -> None:
    _set_aside(case)


@row(
    "sent, outcome unknown, service cannot be asked",
    evidence="the intent is `sent`",
    recovery="the job becomes uncertain",
    forbidden="sending blindly",
    mode="none",
)
def _(case: Case) -> None:
    _set_aside(case)


def _adopted(case: Case) -> None:
    case.publishable()
    case.dies_at_work("sample_app.ticket.sent")
    [ticket] = ledger(case.home)
    case.evidence(intent=case.intent().state, ticket=ticket["ticket_id"])
    assert (case.intent().state, case.intent().ticket_id) == ("sent", None)
    hits = case.recover().hits
    assert "sample_app.intent.sent+2" not in hits
    assert case.intent().ticket_id == ticket["ticket_id"]
    assert [found["ticket_id"] for found in ledger(case.home)] == [ticket["ticket_id"]]
    case.office.check()


@row(
    "ticket made, result not stored",
    evidence="the service finds the ticket by the operation id, and its content agrees",
    recovery="store it",
    forbidden="a second ticket",
)
def _(case: Case) -> None:
    _adopted(case)


@row(
    "ticket made, result not stored, service can be searched only",
    evidence="the search finds one ticket whose content agrees",
    recovery="store it",
    forbidden="a second ticket",
    mode="search",
)
def _(case: Case) -> None:
    _adopted(case)


@row(
    "before the approval's answer returned",
    evidence="the request is pending, the publish job waits for it",
    recovery="wait; nothing is held",
    forbidden="acting",
)
def _(case: Case) -> None:
    case.office.submit()
    case.work_once()
    case.dies("sample_app.approval.before_answered", case.office.approve)
    [request] = [found["waiting_for"] for found in jobs.everything(case.home) if found["waiting_for"]]
    case.evidence(request=approvals.get(case.home, request)["state"])
    assert approvals.get(case.home, request)["state"] == "pending"
    hits = case.recover().hits
    assert not [hit for hit in hits if hit.startswith(("sample_app.intent", "sample_app.ticket"))]
    assert jobs.get(case.home, 2)["lease_owner"] is None
    assert (ledger(case.home), pages.read(case.home, KEY)) == ([], None)
    case.office.approve()  # asked again, it is the same request
    assert approvals.get(case.home, request)["state"] == "approved"
    case.recover()
    case.office.check()


@row(
    "approved, then report edited",
    evidence="the request is superseded",
    recovery="ask anew",
    forbidden="acting on the old answer",
)
def _(case: Case) -> None:
    job = case.publishable()
    case.dies_at_work("sample_app.intent.committed")
    request = jobs.get(case.home, 1)["task_key"] + ":v1:1"
    editing.edit(case.home, 1, "edited", case.clock())
    case.evidence(request=approvals.get(case.home, request)["state"])
    assert approvals.get(case.home, request)["state"] == "superseded"
    case.recover()
    assert (case.state(job), ledger(case.home)) == ("cancelled", [])
    case.office.approve()
    case.recover()
    assert [ticket["body"] for ticket in ledger(case.home)] == ["edited"]


@row(
    "B took over, A wakes",
    evidence="the page store has seen a larger generation",
    recovery="refuse A",
    forbidden="overwriting",
)
def _(case: Case) -> None:
    case.publishable()
    a = case.crashwindow.start(case.office.work, "A", pause_at="sample_app.intent.confirmed").wait_paused()
    case.recover()
    page = pages.read(case.home, KEY)
    assert page
    case.evidence(generation=page["generation"])
    before = case.everything(), dict(page)
    assert a.resume().outcome == "returned"
    now = pages.read(case.home, KEY)
    assert now
    assert (case.everything(), dict(now)) == before
    case.office.check()


@row(
    "cancelled while in flight",
    evidence="the stop intent is there",
    recovery="reconcile what was sent",
    forbidden="starting anything new",
)
def _(case: Case) -> None:
    job = case.publishable()
    case.dies_at_work("sample_app.ticket.sent")
    assert cancel.cancel(case.home, job, case.clock()) == "uncertain"
    case.evidence(stop=jobs.get(case.home, job)["stop_requested_at"], intent=case.intent().state)
    assert jobs.get(case.home, job)["stop_requested_at"] is not None
    case.recover()
    assert (case.state(job), case.intent().state) == ("cancelled", "confirmed")
    assert len(ledger(case.home)) == 1  # reconciled, neither undone nor repeated
    assert pages.read(case.home, KEY) is None
    assert events.differences(case.home) == []


@row(
    "in the middle of a migration",
    evidence="schema_version",
    recovery="old or new, whole",
    forbidden="half",
)
def _(case: Case) -> None:
    make_v1(case.home)
    case.dies("sample_app.migration.job_migrated+2", migrations.migrate, case.home, 1)
    case.evidence(version=version(case.home))
    assert version(case.home) == (1, False)
    case.crashwindow.run(migrations.migrate, case.home, 1)
    assert version(case.home) == (2, True)
    assert [found["currency"] for found in jobs.everything(case.home)] == ["EUR", "CHF", None]
    assert case.state(3) == "needs_info"


@row(
    "same key, other input",
    evidence="the payload's hash differs",
    recovery="refuse; a new version is a new job",
    forbidden="reusing the result, or overwriting the request",
)
def _(case: Case) -> None:
    case.office.submit()
    case.dies_at_work("sample_app.job.committed")
    before = case.everything()
    other = {**PAYLOAD, "amount": 1}
    refused = case.crashwindow.run(jobs.register, case.home, KEY, other, 1)
    case.evidence(refused=str(refused.error))
    assert isinstance(refused.error, Conflict)
    assert case.everything() == before
    anew = case.crashwindow.run(jobs.register, case.home, f"{KEY}-2", other, 1).value
    assert (anew.new, anew.job_id) == (True, 2)


def make_v1(home: Path) -> None:
    """Make app.db one of version 1, with three jobs."""
    path = db.path_of(home, "app")
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with db.connect(path, create=True) as conn, db.transaction(conn):
        db.create_schema(conn, migrations.schema_v1(), 1)
        for job_id, request in enumerate(({"currency": "EUR"}, {"text": "invoice of 1,200.50 CHF"}, {}), start=1):
            payload = json.dumps({"customer": "c", "period": "p", "owner": "o", "amount": 5, **request})
            conn.execute(
                "INSERT INTO jobs (kind, task_key, payload, payload_hash, amount, claim_limit,"
                " worker_version, prompt_version, schema_version, input_digest, registered_at)"
                " VALUES ('report', ?, ?, 'h', 5, 50, '0', '0', '1', 'd', 0)",
                (f"k{job_id}", payload),
            )
            events.append(conn, job_id, "job.registered", 0, key=f"k{job_id}")


def version(home: Path) -> tuple[int, bool]:
    """Of app.db: what it says, and whether it has the new column."""
    with db.connect(db.path_of(home, "app")) as conn:
        columns = [found["name"] for found in conn.execute("PRAGMA table_info(jobs)")]
        return db.version_of(conn), "currency" in columns


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.where.replace(" ", "-").replace("'", ""))
def test_recovery(crashwindow: CrashWindow, home: Path, row: Row) -> None:
    assert row.evidence
    assert row.recovery
    assert row.forbidden
    people(home)
    row.play(Case(crashwindow, home, row.mode))


# The four pauses ----------------------------------------------------------------------------------


@pytest.fixture
def case(crashwindow: CrashWindow, home: Path) -> Callable[[], Case]:
    people(home)
    return lambda: Case(crashwindow, home)


def test_pause_before_the_approval_returns(case: Callable[[], Case]) -> None:
    """Reliable records: the request, with its version and hash. Operation id: none yet.
    Allowed: to wait, and to ask for the same request again. Forbidden: any ticket, any page.
    """
    now = case()
    now.office.submit()
    now.work_once()
    asking = now.crashwindow.start(now.office.approve, pause_at="sample_app.approval.requested").wait_paused()
    [request] = [found["waiting_for"] for found in jobs.everything(now.home) if found["waiting_for"]]
    assert approvals.get(now.home, request)["state"] == "pending"
    now.clock.advance(10 * jobs.LEASE)
    now.recover()
    assert intents.of_job(now.home, 2) is None
    assert (ledger(now.home), pages.read(now.home, KEY)) == ([], None)
    asking.resume().value  # noqa: B018
    now.recover()
    now.office.check()


def test_pause_after_the_transaction_committed(case: Callable[[], Case]) -> None:
    """Reliable records: job, report and event of one transaction. Operation id: the event's.
    Allowed: to return the saved result, to dispatch. Forbidden: a second report, a second event.
    """
    now = case()
    now.office.submit()
    paused = now.crashwindow.start(now.office.work, "A", pause_at="sample_app.job.committed").wait_paused()
    assert facts(now.home) == Facts(1, 1, 1, 0)
    [event] = [found["event_id"] for found in outbox.pending(now.home)]
    now.recover()
    assert facts(now.home) == Facts(1, 1, 1, 1)
    paused.resume()
    assert facts(now.home) == Facts(1, 1, 1, 1)
    assert receiver.inbox(now.home) == [event]
    assert len(receiver.notifications(now.home)) == 1


def test_pause_after_the_remote_success(case: Callable[[], Case]) -> None:
    """Reliable records: the intent (`sent`), and the service's ledger. Operation id: the intent's.
    Allowed: to look the ticket up and to store it. Forbidden: a second ticket.
    """
    now = case()
    now.publishable()
    paused = now.crashwindow.start(now.office.work, "A", pause_at="sample_app.ticket.sent").wait_paused()
    assert now.intent().state == "sent"
    [ticket] = ledger(now.home)
    assert ticket["operation_id"] == now.intent().operation_id
    now.recover()
    assert now.intent().ticket_id == ticket["ticket_id"]
    assert paused.resume().outcome == "returned"
    assert [found["ticket_id"] for found in ledger(now.home)] == [ticket["ticket_id"]]
    now.office.check()


def test_pause_after_b_took_over(case: Callable[[], Case]) -> None:
    """Reliable records: the job's generation, and the largest that the page store has seen.
    Operation id: the intent's, taken over by B. Allowed: that A reports what it knows happened.
    Forbidden: that A sends, overwrites B's page, or finishes B's run.
    """
    now = case()
    now.publishable()
    tools = worker.Tools(now.service.client())
    turn = (worker.work_once, now.home, "A", now.clock, tools)
    a = now.crashwindow.start(*turn, pause_at="sample_app.intent.committed").wait_paused()
    now.clock.advance(jobs.LEASE)
    b = now.crashwindow.start(now.office.work, "B", pause_at="sample_app.page.written").wait_paused()
    page = pages.read(now.home, KEY)
    assert page
    assert page["generation"] == 2
    before = now.everything()
    assert a.resume().outcome == "returned"
    assert "sample_app.intent.sent+2" not in a.hits
    assert (now.everything(), now.state(2), len(ledger(now.home))) == (before, "running", 1)
    assert not now.crashwindow.run(pages.write, now.home, KEY, 1, 1, "A's", now.clock()).value
    b.resume()
    now.office.check()
