"""The history of the jobs: ordered, append-only, and enough to rebuild the state.

An event is written in the transaction that changes the tables, so neither exists without the
other. Logs and traces are no evidence; this is.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from . import db
from .digests import canonical
from .states import MOVES

State = dict[str, dict[str, Any]]


def append(conn: sqlite3.Connection, job_id: int, kind: str, now: float, **data: Any) -> None:
    """Add to the history, inside the caller's transaction."""
    conn.execute(
        "INSERT INTO events (job_id, kind, data, at) VALUES (?, ?, ?, ?)",
        (job_id, kind, canonical(data), now),
    )


def history(home: Path) -> list[tuple[int, str, dict[str, Any]]]:
    """(job, kind, data), in the order in which it happened."""
    with db.app(home) as conn:
        return _history(conn)


def rebuild(home: Path) -> State:
    """The state that follows from the events alone."""
    state: State = {"jobs": {}, "reports": {}, "approvals": {}, "intents": {}}
    for job_id, kind, data in history(home):
        _fold(state, str(job_id), kind, data)
    return state


def from_tables(home: Path) -> State:
    """The same view, read from the tables."""
    with db.app(home) as conn:
        return {
            "jobs": {
                str(row["job_id"]): [row["state"], row["generation"]] for row in conn.execute("SELECT * FROM jobs")
            },
            "reports": {
                f"{row['job_id']}/v{row['version']}": row["digest"] for row in conn.execute("SELECT * FROM reports")
            },
            "approvals": {row["request_id"]: row["state"] for row in conn.execute("SELECT * FROM approvals")},
            "intents": {row["operation_id"]: row["state"] for row in conn.execute("SELECT * FROM intents")},
        }


def differences(home: Path) -> list[str]:
    """Where the tables say something else than the history; nothing, if all is well."""
    told, found = rebuild(home), from_tables(home)
    return [
        f"{table} {key}: events say {told[table].get(key)}, table says {found[table].get(key)}"
        for table in told
        for key in sorted(told[table].keys() | found[table].keys())
        if told[table].get(key) != found[table].get(key)
    ]


def _history(conn: sqlite3.Connection) -> list[tuple[int, str, dict[str, Any]]]:
    rows = conn.execute("SELECT * FROM events ORDER BY seq")
    return [(row["job_id"], row["kind"], json.loads(row["data"])) for row in rows]


def _fold(state: State, job: str, kind: str, data: dict[str, Any]) -> None:
    thing, _, what = kind.partition(".")
    if kind == "job.registered":
        state["jobs"][job] = ["pending", 0]
    elif thing == "job" and what in MOVES:
        before = state["jobs"][job]
        state["jobs"][job] = [MOVES[what].to, data.get("new_generation", before[1])]
    elif thing == "report":
        state["reports"][f"{job}/v{data['version']}"] = data["digest"]
    elif thing == "approval":
        state["approvals"][data["request"]] = "pending" if what == "requested" else what
    elif thing == "intent":
        state["intents"][data["operation"]] = what
