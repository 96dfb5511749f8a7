from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sample_app import approvals, db, jobs, worker
from sample_app.demo import PAYLOAD, Hands
from sample_app.payloads import Payload, key_of
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import Desk
from sample_app.ticket_server import TicketServer

DiesAt = Callable[[str, Callable[[], object]], bool]
Serve = Callable[..., TicketClient]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    db.init(path)
    return path


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def payload() -> Payload:
    return dict(PAYLOAD)


@pytest.fixture
def dies_at() -> DiesAt:
    """Run something in a process that is killed at `POINT` (its first hit) or `POINT+N`."""

    def run(point: str, act: Callable[[], object]) -> bool:
        name, _, nth = point.partition("+")
        pid = os.fork()
        if pid == 0:
            _child(name, int(nth or 1), act)
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
            raise AssertionError("the process ended by an error of its own")
        return os.WIFSIGNALED(status)

    return run


def _child(name: str, nth: int, act: Callable[[], object]) -> None:
    hits = 0

    def hook(event: str, args: tuple[object, ...]) -> None:
        nonlocal hits
        if event == name:
            hits += 1
            if hits == nth:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    try:
        act()
        os._exit(0)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(1)


@pytest.fixture
def serve(home: Path, clock: Hands) -> Iterator[Serve]:
    """Start a ticket service in a mode; returns a client for it."""
    with contextlib.ExitStack() as stack:

        def start(mode: str = "keys", retention: float = 86400.0) -> TicketClient:
            server = TicketServer(Desk(home, clock, mode, retention))
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            return TicketClient(server.url, mode=mode, retention=retention)

        yield start


@pytest.fixture
def publishable(home: Path, payload: Payload, clock: Hands) -> int:
    """The publish job of a report whose publication Bo has approved."""
    job_id = jobs.register(home, key_of(payload), payload, clock()).job_id
    worker.work_once(home, "A", clock)
    approvals.set_person(home, "bo", "secret", True)
    request = approvals.request(home, job_id, "ada", "bo", clock())
    row = approvals.get(home, request)
    approvals.answer(home, request, "bo", "secret", True, 1, row["action_hash"], clock())
    publish_id: int = row["publish_job_id"]
    return publish_id
