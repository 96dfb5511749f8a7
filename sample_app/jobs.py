"""Jobs and leases: register, claim, heartbeat, and who may still write.

The generation is the authority. A lease only says when somebody else may try; the generation,
counted up by every claim, says whose writes still count.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path

from . import db, events
from .clocks import check_not_backwards
from .digests import canonical, digest
from .errors import Conflict, Refused
from .moves import move
from .payloads import VERSIONS, Payload

LEASE = 30.0  # seconds
CLAIM_LIMIT = 50  # claims; a job that outlives so many workers is killing them

# A job that nobody holds, or whose holder's lease has run out. `uncertain` isn't here: its effect
# may have happened, so running it again is not for a worker to decide.
_CLAIMABLE = """
    stop_requested_at IS NULL AND waiting_for IS NULL AND (
      (state IN ('pending', 'retryable') AND not_before <= ?)
      OR (state = 'running' AND lease_until <= ?))
"""


@dataclass(frozen=True)
class Saved:
    """What is known about a registered job. `result` is the report, once it is committed."""

    job_id: int
    state: str
    new: bool
    result: str | None


@dataclass(frozen=True)
class Claim:
    """One worker's turn at a job."""

    job_id: int
    kind: str
    task_key: str
    payload: Payload
    generation: int
    attempt_id: str
    failures: int


def register(
    home: Path,
    task_key: str,
    payload: Payload,
    now: float,
    *,
    kind: str = "report",
    versions: dict[str, str] = VERSIONS,
) -> Saved:
    """Register a job once. A repeat returns what is saved; another content is a Conflict."""
    with db.app(home) as conn:
        with db.transaction(conn):
            saved = register_in(conn, task_key, payload, now, kind=kind, versions=versions)
            sys.audit("sample_app.job.before_registered", task_key)
        sys.audit("sample_app.job.registered", task_key)
    return saved


def register_in(
    conn: sqlite3.Connection,
    task_key: str,
    payload: Payload,
    now: float,
    *,
    kind: str,
    versions: dict[str, str] = VERSIONS,
) -> Saved:
    """`register`, inside the caller's transaction."""
    payload_hash = digest([kind, payload, versions])
    row = conn.execute("SELECT * FROM jobs WHERE task_key = ?", (task_key,)).fetchone()
    if row is None:
        job_id = _insert(conn, task_key, payload, payload_hash, now, kind, versions)
        return Saved(job_id, "pending", new=True, result=None)
    if row["payload_hash"] != payload_hash:
        raise Conflict(f"{task_key!r} is registered with another content; a new version is needed")
    return Saved(row["job_id"], row["state"], new=False, result=_result(conn, row["job_id"]))


def claim(
    home: Path,
    worker: str,
    now: float,
    lease: float = LEASE,
    kinds: tuple[str, ...] = ("report", "publish"),
) -> Claim | None:
    """Take the oldest claimable job until `now + lease`, with the next generation; or None."""
    with db.app(home) as conn:
        with db.transaction(conn):
            check_not_backwards(conn, now)
            row = _oldest(conn, now, kinds)
            if row is None:
                return None
            claimed = _take(conn, row, worker, now, lease)
            sys.audit("sample_app.job.before_claimed", row["job_id"])
        sys.audit("sample_app.job.claimed", row["job_id"])
    return claimed


def heartbeat(home: Path, job_id: int, generation: int, now: float, lease: float = LEASE) -> bool:
    """Extend the lease of this generation. False = somebody else holds the job, or nobody."""
    with db.app(home) as conn:
        with db.transaction(conn):
            check_not_backwards(conn, now)
            extended = conn.execute(
                "UPDATE jobs SET lease_until = ?"
                " WHERE job_id = ? AND generation = ? AND state = 'running'"
                " AND stop_requested_at IS NULL",
                (now + lease, job_id, generation),
            ).rowcount
        sys.audit("sample_app.job.heartbeat", job_id)
    return bool(extended)


def holds(conn: sqlite3.Connection, job_id: int, generation: int) -> bool:
    """May this generation still start something or write? To be asked inside a transaction."""
    row = get_in(conn, job_id)
    held = row["generation"] == generation and row["state"] == "running"
    return bool(held and row["stop_requested_at"] is None)


def get(home: Path, job_id: int) -> sqlite3.Row:
    with db.app(home) as conn:
        return get_in(conn, job_id)


def get_in(conn: sqlite3.Connection, job_id: int) -> sqlite3.Row:
    row: sqlite3.Row | None = conn.execute("SELECT * FROM jobs WHERE job_id = ?", (job_id,)).fetchone()
    if row is None:
        raise Refused(f"there is no job {job_id}")
    return row


def everything(home: Path) -> list[sqlite3.Row]:
    """All jobs, oldest first."""
    with db.app(home) as conn:
        return conn.execute("SELECT * FROM jobs ORDER BY job_id").fetchall()


def next_due(home: Path, kinds: tuple[str, ...] = ("report", "publish")) -> float | None:
    """The earliest time at which some job may be claimable; None = no worker is needed."""
    marks = ", ".join("?" * len(kinds))
    with db.app(home) as conn:
        row = conn.execute(
            "SELECT min(CASE state WHEN 'running' THEN lease_until ELSE not_before END) AS due"
            " FROM jobs WHERE state IN ('pending', 'retryable', 'running')"
            " AND stop_requested_at IS NULL AND waiting_for IS NULL"
            f" AND kind IN ({marks})",
            kinds,
        ).fetchone()
    return None if row["due"] is None else float(row["due"])


def _insert(
    conn: sqlite3.Connection,
    task_key: str,
    payload: Payload,
    payload_hash: str,
    now: float,
    kind: str,
    versions: dict[str, str],
) -> int:
    job_id = conn.execute(
        "INSERT INTO jobs (kind, task_key, payload, payload_hash, amount, currency, claim_limit,"
        " worker_version, prompt_version, schema_version, input_digest, registered_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            kind,
            task_key,
            canonical(payload),
            payload_hash,
            payload.get("amount"),
            payload.get("currency"),
            CLAIM_LIMIT,
            versions["worker"],
            versions["prompt"],
            versions["schema"],
            digest(payload),
            now,
        ),
    ).lastrowid
    assert job_id is not None
    events.append(conn, job_id, "job.registered", now, key=task_key)
    return job_id


def _oldest(conn: sqlite3.Connection, now: float, kinds: tuple[str, ...]) -> sqlite3.Row | None:
    marks = ", ".join("?" * len(kinds))
    row: sqlite3.Row | None = conn.execute(
        f"SELECT * FROM jobs WHERE {_CLAIMABLE} AND kind IN ({marks}) ORDER BY job_id LIMIT 1",
        (now, now, *kinds),
    ).fetchone()
    return row


def _take(conn: sqlite3.Connection, row: sqlite3.Row, worker: str, now: float, lease: float) -> Claim:
    generation = row["generation"] + 1
    attempt_id = secrets.token_hex(8)
    moved = move(
        conn,
        row["job_id"],
        "claimed",
        now,
        generation=row["generation"],
        new_generation=generation,
        worker=worker,
        attempt=attempt_id,
    )
    assert moved, "the row was read in this very transaction"
    conn.execute(
        "UPDATE jobs SET generation = ?, lease_owner = ?, lease_until = ?, attempt_id = ?,"
        " claimed_at = ? WHERE job_id = ?",
        (generation, worker, now + lease, attempt_id, now, row["job_id"]),
    )
    payload = json.loads(row["payload"])
    return Claim(
        row["job_id"], row["kind"], row["task_key"], payload, generation, attempt_id,
        row["failures"],
    )  # fmt: skip


def _result(conn: sqlite3.Connection, job_id: int) -> str | None:
    row = conn.execute("SELECT body FROM reports WHERE job_id = ? ORDER BY version DESC LIMIT 1", (job_id,)).fetchone()
    return None if row is None else str(row["body"])
