"""How it stands: what an operator looks at first. Only reads."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import db


@dataclass(frozen=True)
class Status:
    jobs: dict[str, int]  # state -> number
    waiting_for_approval: int
    oldest_pending_age: float | None  # seconds
    expired_leases: list[int]
    uncertain: dict[int, str]  # job -> the open intent that explains it
    dead: list[int]
    undelivered: int
    refused: list[str]  # events that the receiver will not have
    wal_bytes: int  # grows while a long reader keeps it from being checkpointed

    def lines(self) -> list[str]:
        states = ", ".join(f"{number} {state}" for state, number in sorted(self.jobs.items()))
        age = self.oldest_pending_age
        return [
            f"jobs: {states or 'none'}",
            f"waiting for approval: {self.waiting_for_approval}",
            f"oldest pending: {'none' if age is None else f'{age:.0f} s'}",
            f"expired leases: {_ids(self.expired_leases)}",
            f"uncertain: {'; '.join(f'{job} ({why})' for job, why in self.uncertain.items()) or 0}",
            f"dead: {_ids(self.dead)}",
            f"undelivered events: {self.undelivered}",
            f"refused events: {', '.join(self.refused) or 'none'}",
            f"WAL: {self.wal_bytes} bytes",
        ]


def status(home: Path, now: float) -> Status:
    with db.app(home) as conn:
        return Status(
            jobs=dict(_pairs(conn, "SELECT state, count(*) FROM jobs GROUP BY state")),
            waiting_for_approval=_one(
                conn, "SELECT count(*) FROM jobs WHERE state = 'pending' AND waiting_for NOT NULL"
            ),
            oldest_pending_age=_age(conn, now),
            expired_leases=_list(
                conn, "SELECT job_id FROM jobs WHERE state = 'running' AND lease_until <= ? ORDER BY job_id", now
            ),
            uncertain=_uncertain(conn),
            dead=_list(conn, "SELECT job_id FROM jobs WHERE state = 'dead' ORDER BY job_id"),
            undelivered=_one(conn, "SELECT count(*) FROM outbox WHERE delivered_at IS NULL"),
            refused=_list(conn, "SELECT event_id FROM outbox WHERE refusal IS NOT NULL ORDER BY event_id"),
            wal_bytes=_size(home / "app.db-wal"),
        )


def _pairs(conn: sqlite3.Connection, sql: str) -> list[tuple[str, int]]:
    return [(row[0], row[1]) for row in conn.execute(sql)]


def _one(conn: sqlite3.Connection, sql: str) -> int:
    return int(conn.execute(sql).fetchone()[0])


def _list(conn: sqlite3.Connection, sql: str, *values: float) -> list[Any]:
    return [row[0] for row in conn.execute(sql, values)]


def _age(conn: sqlite3.Connection, now: float) -> float | None:
    oldest = conn.execute(
        "SELECT min(registered_at) FROM jobs WHERE state = 'pending' AND waiting_for IS NULL"
    ).fetchone()[0]
    return None if oldest is None else now - oldest


def _uncertain(conn: sqlite3.Connection) -> dict[int, str]:
    rows = conn.execute(
        "SELECT jobs.job_id, operation_id, intents.state FROM jobs LEFT JOIN intents"
        " ON intents.job_id = jobs.job_id AND action = 'ticket'"
        " WHERE jobs.state = 'uncertain' ORDER BY jobs.job_id"
    )
    return {row[0]: f"{row[1]} is {row[2]}" for row in rows}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # checkpointed and removed when the last connection closed
        return 0


def _ids(jobs: list[int]) -> str:
    return ", ".join(map(str, jobs)) or "none"
