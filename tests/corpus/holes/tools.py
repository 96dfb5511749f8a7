"""What several programs of the corpus share."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any


@contextlib.contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that is closed at the end; commits are the program's business."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous = off")
        yield connection


def create(path: Path, script: str) -> None:
    with database(path) as connection:
        connection.executescript(script)


def rows(path: Path, query: str) -> list[Any]:
    """Rows; of a single column its values."""
    with database(path) as connection:
        found = connection.execute(query).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def replace(path: Path, text: str) -> None:
    """The right way to rewrite a file."""
    unfinished = path.with_suffix(".part")
    with open(unfinished, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def send(effects: Any, key: str, name: str = "mail") -> None:
    """To a receiver that does what it is asked as often as it is asked."""
    effects.record(name, key)


def send_once(effects: Any, key: str, name: str = "mail") -> None:
    """To a receiver that knows the keys that it has seen."""
    if not effects.count(name, key):
        effects.record(name, key)


# -- servers -------------------------------------------------------------------------------------


@contextlib.contextmanager
def served(server: ThreadingTCPServer) -> Iterator[int]:
    """Run a server in a process of its own; its port."""
    process = get_context("fork").Process(target=server.serve_forever, daemon=True)
    process.start()
    try:
        yield server.server_address[1]
    finally:
        process.kill()
        process.join()
        server.server_close()


def http_server(on_post: Callable[[str], None]) -> ThreadingTCPServer:
    """Calls `on_post(key)` for each POST, with its header Idempotency-Key."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            on_post(self.headers.get("Idempotency-Key", ""))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def smtp_server(on_mail: Callable[[str], None]) -> ThreadingTCPServer:
    """Calls `on_mail(message id)` for each mail that it takes."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 desk\r\n")
            for line in self.rfile:
                verb = line[:4].upper()
                if verb == b"QUIT":
                    self.wfile.write(b"221 bye\r\n")
                    return
                if verb == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    on_mail(self._message_id())
                self.wfile.write(b"250 ok\r\n")

        def _message_id(self) -> str:
            found = ""
            for line in self.rfile:
                if line == b".\r\n":
                    break
                if line.lower().startswith(b"message-id:"):
                    found = line.partition(b":")[2].strip().decode()
            return found

    return ThreadingTCPServer(("127.0.0.1", 0), Handler)
