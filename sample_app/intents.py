"""Intent first: what we are about to do in somebody else's system is committed before we do it.

    prepared -> sent -> confirmed | unknown | failed

`sent` is written before the request leaves, so a worker that dies around the request leaves
evidence that it may have been made. The operation id is made once, here, and never again.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import db, events, jobs
from .digests import canonical, digest
from .errors import Refused
from .jobs import Claim
from .moves import move

# Asked in the transaction that lets something start: raises, if it may not.
Gate = Callable[[sqlite3.Connection, int, float], None]


class NotOurs(Refused):
    """Another generation holds the job, or it has been stopped."""


@dataclass(frozen=True)
class Intent:
    operation_id: str
    job_id: int
    action: str
    parameters: dict[str, str]
    state: str
    ticket_id: int | None
    prepared_at: float
    sent_at: float | None


def prepare(home: Path, claim: Claim, parameters: dict[str, str], gate: Gate, now: float) -> tuple[Intent, bool]:
    """The intent of this claim's job, and whether it is new.

    An older one is taken over: from here on its former holder can't send it any more. Raises
    `NotOurs` where the job isn't this generation's, and whatever `gate` raises for a new one.
    """
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _of_job(conn, claim.job_id, "ticket")
            _check_may_act(conn, claim.job_id, claim.generation)
            if row is None:
                gate(conn, claim.job_id, now)
                _insert(conn, claim, parameters, now)
            else:
                _take_over(conn, row, claim.generation, parameters, now)
            sys.audit("sample_app.intent.before_commit", claim.job_id)
        sys.audit("sample_app.intent.committed", claim.job_id)
        return _intent(_of_job(conn, claim.job_id, "ticket")), row is None


def mark_sent(home: Path, intent: Intent, generation: int, gate: Gate, now: float) -> None:
    """The last commit before the request leaves; raises if it may not leave (any more)."""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _get(conn, intent.operation_id)
            if row["state"] != "prepared" or row["generation"] != generation:
                raise NotOurs(f"{intent.operation_id!r} is another's to send")
            _check_may_act(conn, intent.job_id, generation)
            gate(conn, intent.job_id, now)
            set_state(conn, row, "sent", now, sent_at=now)
            sys.audit("sample_app.intent.before_sent", intent.operation_id)
        sys.audit("sample_app.intent.sent", intent.operation_id)


def take_back(home: Path, intent: Intent, generation: int, now: float) -> None:
    """This generation's request is known not to have left. (A successor's may have.)"""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _get(conn, intent.operation_id)
            if row["generation"] == generation:
                _back_to_prepared(conn, row, ("sent",), now)
        sys.audit("sample_app.intent.taken_back", intent.operation_id)


def may_send_again(home: Path, intent: Intent, now: float, evidence: str | None = None) -> None:
    """It is known not to have happened. The operation id stays."""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _get(conn, intent.operation_id)
            if row["sent_at"] == intent.sent_at:  # else it has been sent again since
                _back_to_prepared(conn, row, ("sent", "unknown"), now, evidence)
        sys.audit("sample_app.intent.prepared_again", intent.operation_id)


def refuse(conn: sqlite3.Connection, operation_id: str, why: str, now: float) -> None:
    """The service said no."""
    row = _get(conn, operation_id)
    if row["state"] != "confirmed":
        set_state(conn, row, "failed", now, evidence=why, settled_at=now)


def confirm(home: Path, operation_id: str, ticket_id: int, evidence: str, now: float) -> None:
    """Store that it happened. Not fenced: evidence counts, whoever brings it, however late."""
    with db.app(home) as conn:
        with db.transaction(conn):
            confirm_in(conn, operation_id, ticket_id, evidence, now)
            sys.audit("sample_app.intent.before_confirmed", operation_id)
        sys.audit("sample_app.intent.confirmed", operation_id)


def confirm_in(conn: sqlite3.Connection, operation_id: str, ticket_id: int, evidence: str, now: float) -> None:
    row = _get(conn, operation_id)
    if row["state"] == "confirmed" and row["ticket_id"] != ticket_id:
        raise Refused(f"{operation_id!r} made ticket {row['ticket_id']}, and now {ticket_id}")
    if row["state"] != "confirmed":
        columns = {"ticket_id": ticket_id, "evidence": evidence, "settled_at": now}
        set_state(conn, row, "confirmed", now, **columns)


def becomes_unknown(home: Path, intent: Intent, generation: int, why: str, now: float) -> None:
    """Nobody here knows whether it happened. The job is set aside: not failed, not retried."""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _get(conn, intent.operation_id)
            if row["state"] == "sent" and row["generation"] == generation:
                set_state(conn, row, "unknown", now, evidence=why)
            move(conn, intent.job_id, "became_uncertain", now, generation=generation, why=why)
            sys.audit("sample_app.intent.before_unknown", intent.operation_id)
        sys.audit("sample_app.intent.unknown", intent.operation_id)


def of_job(home: Path, job_id: int, action: str = "ticket") -> Intent | None:
    with db.app(home) as conn:
        row = _of_job(conn, job_id, action)
    return None if row is None else _intent(row)


def open_in(conn: sqlite3.Connection, job_id: int) -> list[sqlite3.Row]:
    """Intents that may have had an effect which isn't known yet."""
    return conn.execute("SELECT * FROM intents WHERE job_id = ? AND state IN ('sent', 'unknown')", (job_id,)).fetchall()


def give_up_prepared(conn: sqlite3.Connection, job_id: int, why: str, now: float) -> None:
    """What hasn't been sent will not be."""
    for row in conn.execute("SELECT * FROM intents WHERE job_id = ? AND state = 'prepared'", (job_id,)).fetchall():
        set_state(conn, row, "failed", now, evidence=why, settled_at=now)


def set_state(conn: sqlite3.Connection, row: sqlite3.Row, state: str, now: float, **columns: Any) -> None:
    assignments = "".join(f", {name} = ?" for name in columns)
    conn.execute(
        f"UPDATE intents SET state = ?{assignments} WHERE operation_id = ?",
        (state, *columns.values(), row["operation_id"]),
    )
    events.append(conn, row["job_id"], f"intent.{state}", now, operation=row["operation_id"])


def insert_in(
    conn: sqlite3.Connection,
    operation_id: str,
    job_id: int,
    generation: int,
    action: str,
    parameters: dict[str, str],
    now: float,
) -> None:
    conn.execute(
        "INSERT INTO intents (operation_id, job_id, action, parameters, action_hash, generation,"
        " state, prepared_at) VALUES (?, ?, ?, ?, ?, ?, 'prepared', ?)",
        (operation_id, job_id, action, canonical(parameters), digest(parameters), generation, now),
    )
    events.append(conn, job_id, "intent.prepared", now, operation=operation_id)


def exists(conn: sqlite3.Connection, operation_id: str) -> bool:
    return _get(conn, operation_id) is not None


def set_sent(conn: sqlite3.Connection, operation_id: str, now: float) -> None:
    set_state(conn, _get(conn, operation_id), "sent", now, sent_at=now)


def _insert(conn: sqlite3.Connection, claim: Claim, parameters: dict[str, str], now: float) -> None:
    operation_id = f"ticket:{claim.task_key}"
    insert_in(conn, operation_id, claim.job_id, claim.generation, "ticket", parameters, now)


def _back_to_prepared(
    conn: sqlite3.Connection,
    row: sqlite3.Row,
    sources: tuple[str, ...],
    now: float,
    evidence: str | None = None,
) -> None:
    if row["state"] in sources:
        set_state(conn, row, "prepared", now, sent_at=None, evidence=evidence)


def _take_over(
    conn: sqlite3.Connection,
    row: sqlite3.Row,
    generation: int,
    parameters: dict[str, str],
    now: float,
) -> None:
    if row["state"] == "failed":  # refused once, and requeued by an operator
        set_state(conn, row, "prepared", now, sent_at=None, settled_at=None)
    if row["state"] in ("failed", "prepared"):  # not out yet: what is approved now is what counts
        conn.execute(
            "UPDATE intents SET parameters = ?, action_hash = ? WHERE operation_id = ?",
            (canonical(parameters), digest(parameters), row["operation_id"]),
        )
    conn.execute(
        "UPDATE intents SET generation = ? WHERE operation_id = ?",
        (generation, row["operation_id"]),
    )


def _check_may_act(conn: sqlite3.Connection, job_id: int, generation: int) -> None:
    if not jobs.holds(conn, job_id, generation):
        raise NotOurs(f"job {job_id} is not generation {generation}'s to act for")


def _of_job(conn: sqlite3.Connection, job_id: int, action: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = conn.execute(
        "SELECT * FROM intents WHERE job_id = ? AND action = ?", (job_id, action)
    ).fetchone()
    return row


def _get(conn: sqlite3.Connection, operation_id: str) -> sqlite3.Row:
    row: sqlite3.Row = conn.execute("SELECT * FROM intents WHERE operation_id = ?", (operation_id,)).fetchone()
    return row


def _intent(row: sqlite3.Row | None) -> Intent:
    assert row is not None
    return Intent(
        row["operation_id"], row["job_id"], row["action"], json.loads(row["parameters"]),
        row["state"], row["ticket_id"], row["prepared_at"], row["sent_at"],
    )  # fmt: skip
