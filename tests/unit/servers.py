"""Real servers on loopback, each in a process of its own, so that no life has their threads."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any


@dataclass
class Server:
    port: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def served(self) -> list[str]:
        """One line for each request or mail that the server acted on."""
        return self.log.read_text().splitlines()


@contextlib.contextmanager
def serving(log: Path, serve: Callable[[socket.socket, Callable[[str], None]], Any]) -> Iterator[Server]:
    log.touch()
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    pid = os.fork()
    if pid == 0:
        try:
            fd = os.open(log, os.O_WRONLY | os.O_APPEND)
            serve(listening, lambda line: print(line, file=os.fdopen(os.dup(fd), "w"), flush=True))
        finally:
            os._exit(1)
    listening.close()
    try:
        yield Server(port, log)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def http(listening: socket.socket, note: Callable[[str], None]) -> None:
    """`/redirect` leads to `/target`; everything else is answered with its own path."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections alive

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            note(f"{self.command} {self.path}")
            body = self.path.encode()
            self.send_response(302 if self.path == "/redirect" else 200)
            self.send_header("Location", "/target")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer

        def log_message(self, *args: Any) -> None:
            pass

    class Threaded(ThreadingMixIn, HTTPServer):
        daemon_threads = True

    server = Threaded(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening
    server.serve_forever()


def smtp(listening: socket.socket, note: Callable[[str], None]) -> None:
    """Accepts every mail."""
    while True:
        connection, _ = listening.accept()
        with connection, connection.makefile("rwb", buffering=0) as file:
            _converse(file, note)


def _converse(file: Any, note: Callable[[str], None]) -> None:
    file.write(b"220 ready\r\n")
    recipients = 0
    for line in file:
        verb = line[:4].upper()
        if verb == b"QUIT":
            file.write(b"221 bye\r\n")
            return
        if verb == b"DATA":
            file.write(b"354 go on\r\n")
            lines = []
            while (text := file.readline()) not in (b".\r\n", b""):
                lines.append(text)
            note(f"{recipients} {b''.join(lines).decode().split()[-1]}")
        recipients = recipients + 1 if verb == b"RCPT" else 0 if verb == b"MAIL" else recipients
        file.write(b"250 ok\r\n")
