"""The ticket service over HTTP, to be run as a process of its own.

POST /tickets              Idempotency-Key, X-Tenant; JSON body   201 | 409
POST /tickets/ID/cancel    X-Tenant                               200 | 404
GET  /tickets?operation_id=...                                    200 | 405
GET  /tickets?account=...&title=...&since=...&until=...           200 | 405
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from .errors import AppError, Conflict, one_line
from .ticket_desk import Desk

LOOPBACK = "127.0.0.1"


class TicketServer(ThreadingHTTPServer):
    """Serves one desk. Port 0 = any free one, see `url`."""

    def __init__(self, desk: Desk, port: int = 0) -> None:
        self.desk = desk
        super().__init__((LOOPBACK, port), Handler)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that went away is daily life; anything else is worth its traceback.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    timeout = 30  # seconds for a client that connects and says nothing

    @property
    def desk(self) -> Desk:
        return cast(TicketServer, self.server).desk

    def do_GET(self) -> None:
        query = dict(parse_qsl(urlsplit(self.path).query))
        if "operation_id" in query and self.desk.mode == "keys":
            self._reply(200, lambda: self.desk.by_operation(self._tenant, query["operation_id"]))
        elif "account" in query and self.desk.mode in ("keys", "search"):
            self._reply(200, lambda: self._search(query))
        else:
            self._send(405, {"error": f"a service in mode {self.desk.mode!r} cannot be asked this"})

    def do_POST(self) -> None:
        # The body is read first: an answer to a half-read request would reset the connection.
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        match self.path.strip("/").split("/"):
            case ["tickets"]:
                key = self.headers.get("Idempotency-Key", "")
                self._reply(201, lambda: self.desk.create(self._tenant, key, json.loads(body)))
            case ["tickets", ticket_id, "cancel"] if ticket_id.isdigit():
                self._reply(200, lambda: self.desk.cancel(self._tenant, int(ticket_id)))
            case _:
                self._send(404, {"error": "no such address"})

    def log_message(self, format: str, *args: Any) -> None:
        pass

    @property
    def _tenant(self) -> str:
        return self.headers.get("X-Tenant", "")

    def _search(self, query: dict[str, str]) -> list[dict[str, Any]]:
        since, until = float(query["since"]), float(query["until"])
        return self.desk.search(self._tenant, query["account"], query["title"], since, until)

    def _reply(self, status: int, act: Callable[[], Any]) -> None:
        try:
            value = act()
        except Conflict as error:
            self._send(409, {"error": one_line(error)})
        except (KeyError, ValueError) as error:
            self._send(400, {"error": f"malformed request: {one_line(error)}"})
        except (AppError, OSError) as error:
            self._send(503, {"error": one_line(error)})
        else:
            self._send(404 if value is None else status, value)

    def _send(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
