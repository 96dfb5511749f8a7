"""The ticket service's own books: somebody else's system, with its own rules.

It comes in three modes, as such services do:

* `keys`: an Idempotency-Key is honoured within its scope (the tenant) and its retention time,
  and tickets can be found by operation id;
* `search`: no keys, no operation ids, but tickets can be searched by their attributes;
* `none`: every request makes a ticket, and nothing can be asked.
"""

from __future__ import annotations

import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import db
from .clocks import Clock
from .digests import digest
from .errors import Conflict

MODES = ("keys", "search", "none")
RETENTION = 86400.0  # seconds for which a key is remembered


@dataclass(frozen=True)
class Desk:
    """The service on its database. `tickets.db` is in `home`, which needn't be the app's."""

    home: Path
    clock: Clock
    mode: str = "keys"
    retention: float = RETENTION

    def create(self, tenant: str, key: str, parameters: dict[str, str]) -> dict[str, Any]:
        """Make a ticket, or return the one that this key has made. Conflict if it was another."""
        sys.audit("sample_app.ticket.received", key)
        now = self.clock()
        with db.tickets(self.home) as conn:
            with db.transaction(conn):
                known = self._known(conn, tenant, key, parameters, now)
                if known is not None:
                    return known
                ticket = self._insert(conn, tenant, key, parameters, now)
                sys.audit("sample_app.ticket.before_stored", key)
            sys.audit("sample_app.ticket.stored", key)
        return ticket

    def by_operation(self, tenant: str, operation_id: str) -> list[dict[str, Any]]:
        return self._select("tenant = ? AND operation_id = ?", tenant, operation_id)

    def search(self, tenant: str, account: str, title: str, since: float, until: float) -> list[dict[str, Any]]:
        return self._select(
            "tenant = ? AND account = ? AND title = ? AND created_at BETWEEN ? AND ?",
            tenant, account, title, since, until,
        )  # fmt: skip

    def cancel(self, tenant: str, ticket_id: int) -> dict[str, Any] | None:
        """Cancel a ticket; cancelling a cancelled one changes nothing."""
        with db.tickets(self.home) as conn:
            with db.transaction(conn):
                conn.execute(
                    "UPDATE tickets SET cancelled_at = coalesce(cancelled_at, ?) WHERE tenant = ? AND ticket_id = ?",
                    (self.clock(), tenant, ticket_id),
                )
            sys.audit("sample_app.ticket.cancelled", ticket_id)
        found = self._select("tenant = ? AND ticket_id = ?", tenant, ticket_id)
        return found[0] if found else None

    def _select(self, where: str, *values: Any) -> list[dict[str, Any]]:
        with db.tickets(self.home) as conn:
            sql = f"SELECT * FROM tickets WHERE {where} ORDER BY ticket_id"
            return [dict(row) for row in conn.execute(sql, values)]

    def _known(
        self,
        conn: sqlite3.Connection,
        tenant: str,
        key: str,
        parameters: dict[str, str],
        now: float,
    ) -> dict[str, Any] | None:
        if self.mode != "keys":
            return None
        conn.execute("DELETE FROM idempotency_keys WHERE created_at <= ?", (now - self.retention,))
        row = conn.execute(
            "SELECT * FROM idempotency_keys JOIN tickets USING (tenant, ticket_id) WHERE tenant = ? AND key = ?",
            (tenant, key),
        ).fetchone()
        if row is not None and row["parameters_hash"] != digest(parameters):
            raise Conflict(f"key {key!r} was used with other parameters")
        return None if row is None else _ticket(conn, row["ticket_id"])

    def _insert(
        self,
        conn: sqlite3.Connection,
        tenant: str,
        key: str,
        parameters: dict[str, str],
        now: float,
    ) -> dict[str, Any]:
        operation_id = key if self.mode == "keys" else None
        title, account, body = (parameters[name] for name in ("title", "account", "body"))
        ticket_id = conn.execute(
            "INSERT INTO tickets (tenant, operation_id, title, account, body, created_at) VALUES (?, ?, ?, ?, ?, ?)",
            (tenant, operation_id, title, account, body, now),
        ).lastrowid
        assert ticket_id is not None
        if self.mode == "keys":
            conn.execute(
                "INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?)",
                (tenant, key, digest(parameters), ticket_id, now),
            )
        return _ticket(conn, ticket_id)


def ledger(home: Path) -> list[dict[str, Any]]:
    """Every ticket there is: what an operator sees who looks into the service itself."""
    with db.tickets(home) as conn:
        return [dict(row) for row in conn.execute("SELECT * FROM tickets ORDER BY ticket_id")]


def _ticket(conn: sqlite3.Connection, ticket_id: int) -> dict[str, Any]:
    return dict(conn.execute("SELECT * FROM tickets WHERE ticket_id = ?", (ticket_id,)).fetchone())
