"""What was approved changes while the worker is dead or paused anywhere: nothing of it starts any more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import approvals, db, editing, events, intents, jobs, pages, worker
from sample_app.ticket_desk import ledger

from .office import KEY, LOCKED, SERVICE_POINTS, Office, Service

TURN = [f"!{point}" for point in sorted(SERVICE_POINTS)]


def edit(home: Path) -> None:
    """The text."""
    editing.edit(home, 1, "something else", 0)


def correct_currency(home: Path) -> None:
    """What the text doesn't show: by hand, as somebody does who finds it wrong."""
    with db.app(home) as conn, db.transaction(conn):
        conn.execute("UPDATE jobs SET currency = 'JPY' WHERE job_id = 1")


def withdraw_permission(home: Path) -> None:
    """Who may say yes, as of now."""
    approvals.set_person(home, "bo", "secret", False)


@pytest.mark.crash_windows(crash=["sample_app.*", *TURN], pause=["sample_app.*", *LOCKED, *TURN])
@pytest.mark.parametrize("change", [edit, correct_currency, withdraw_permission])
def test_sweep_of_a_change_after_the_approval(
    crashwindow: CrashWindow, approved: Path, change: Callable[[Path], None]
) -> None:
    service = Service(crashwindow, approved).start()
    office = Office(approved, crashwindow.clock, service.client)
    tools = worker.Tools(service.client())
    first = crashwindow.run(worker.work_once, approved, "A", crashwindow.clock, tools)
    sent = intents.of_job(approved, 2)
    begun = sent is not None and sent.state in ("sent", "confirmed")
    before = len(ledger(approved))
    change(approved)
    first.resume()
    crashwindow.clock.advance(jobs.LEASE)
    office.work("B")
    if not begun:
        assert (len(ledger(approved)), pages.read(approved, KEY)) == (0, None)
        assert jobs.get(approved, 2)["state"] in ("cancelled", "needs_info")
    elif before:  # made with the approval of that moment: it is brought to its end, once
        assert (len(ledger(approved)), jobs.get(approved, 2)["state"]) == (1, "done")
    else:
        assert len(ledger(approved)) <= 1
    assert events.differences(approved) == []
