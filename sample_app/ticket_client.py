"""Talking to the ticket service. The errors say what is known, not what went wrong:

`NotSent` (nothing has left this machine), `TicketRefused` (a definite no), and `OutcomeUnknown`
(everything else: a timeout is not a failure).
"""

from __future__ import annotations

import contextlib
import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from .errors import SafeToRetry
from .ticket_desk import RETENTION


class NotSent(SafeToRetry):
    """No connection: the service can't have seen anything."""


class TicketRefused(Exception):
    """The service understood and said no; there is no ticket from this request."""


class OutcomeUnknown(TimeoutError):
    """The request may or may not have been acted upon."""


@dataclass(frozen=True)
class Ticket:
    ticket_id: int
    content: dict[str, str]


@dataclass(frozen=True)
class TicketClient:
    """`mode` and `retention` say what this service can do (ticket_desk.py)."""

    url: str
    tenant: str = "sample"
    mode: str = "keys"
    retention: float = RETENTION
    timeout: float = 5.0  # seconds

    def create(self, operation_id: str, parameters: dict[str, str]) -> Ticket:
        """Request a ticket, under the operation id as Idempotency-Key."""
        # Header values are latin-1 and one line; an operation id may be anything.
        headers = {"Idempotency-Key": quote(operation_id, safe=":/@")}
        return _ticket(self._ask("POST", "/tickets", parameters, headers))

    def by_operation(self, operation_id: str) -> list[Ticket]:
        return self._find(operation_id=quote(operation_id, safe=":/@"))

    def search(self, account: str, title: str, since: float, until: float) -> list[Ticket]:
        return self._find(account=account, title=title, since=since, until=until)

    def cancel(self, ticket_id: int) -> None:
        """Cancel a ticket. May be repeated."""
        self._ask("POST", f"/tickets/{ticket_id}/cancel", {}, {})

    def _find(self, **query: Any) -> list[Ticket]:
        return [_ticket(found) for found in self._ask("GET", f"/tickets?{urlencode(query)}")]

    def _ask(
        self,
        method: str,
        path: str,
        body: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=self.timeout)
        with contextlib.closing(connection):
            try:
                connection.connect()
            except OSError as error:
                raise NotSent(f"no connection to {self.url}: {error}") from error
            data = None if body is None else json.dumps(body)
            return self._exchange(connection, method, path, data, headers or {})

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        data: str | None,
        headers: dict[str, str],
    ) -> Any:
        try:
            connection.request(method, path, data, {"X-Tenant": self.tenant, **headers})
            response = connection.getresponse()
            status, text = response.status, response.read()
            value = json.loads(text)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise OutcomeUnknown(f"no usable answer from {self.url}: {error!r}") from error
        if status >= 500:
            raise OutcomeUnknown(f"{self.url} answered {status}: {value}")
        if status >= 400:
            raise TicketRefused(f"{self.url} answered {status}: {value}")
        return value


def _ticket(found: dict[str, Any]) -> Ticket:
    content = {name: found[name] for name in ("title", "account", "body")}
    return Ticket(found["ticket_id"], content)
