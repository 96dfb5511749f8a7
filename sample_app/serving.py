"""The ticket service as a process of its own."""

from __future__ import annotations

import contextlib
from pathlib import Path

from .clocks import Clock
from .ticket_desk import Desk
from .ticket_server import TicketServer


def serve(home: Path, clock: Clock, mode: str, retention: float, port: int = 0) -> None:
    """Serve until interrupted. The first line of output is the address, once it is listening."""
    with TicketServer(Desk(home, clock, mode, retention), port) as server:
        print(server.url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
