from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import approvals, db, jobs, worker
from sample_app.demo import PAYLOAD, Hands
from sample_app.payloads import Payload, key_of
from sample_app.ticket_client import TicketClient
from sample_app.ticket_desk import Desk
from sample_app.ticket_server import TicketServer

from .office import Office, people

Act = Callable[[], object]
DiesAt = Callable[[str, Act], bool]
Serve = Callable[..., TicketClient]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    db.init(path)
    return path


@pytest.fixture
def fast_home(tmp_path: Path, crashwindow: CrashWindow) -> Iterator[Path]:
    """`home`, in memory where the machine has such a place: sweeps commit some ten thousand times.

    A killed process loses nothing there either; what a power cut loses is another story.
    """
    memory = Path("/dev/shm")
    with contextlib.ExitStack() as stack:
        if os.access(memory, os.W_OK):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sample-app-", dir=memory)))
        else:
            home = tmp_path / "home"
        db.init(home)
        crashwindow.state(home)
        yield home


@pytest.fixture
def approved(fast_home: Path) -> Path:
    """`fast_home` with a report whose publication Bo has approved; job 2 is to publish it."""
    people(fast_home)
    office = Office(fast_home, Hands(), lambda: TicketClient(""))
    office.submit()
    worker.run_until_idle(fast_home, "A", office.clock)
    office.approve()
    return fast_home


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def payload() -> Payload:
    return dict(PAYLOAD)


@pytest.fixture
def dies_at(crashwindow: CrashWindow) -> DiesAt:
    """Run something in a process of its own that is killed at a point. Returns whether it got there."""
    return lambda point, act: crashwindow.run(act, crash_at=point).crashed


@pytest.fixture
def serve(home: Path, clock: Hands) -> Iterator[Serve]:
    """A ticket service in a mode, on a home; returns a client for it. Another home: it moves."""
    servers: dict[str, TicketServer] = {}
    with contextlib.ExitStack() as stack:

        def start(mode: str = "keys", retention: float = 86400.0, home: Path = home) -> TicketClient:
            desk = Desk(home, clock, mode, retention)
            if mode not in servers:
                servers[mode] = stack.enter_context(_serving(TicketServer(desk)))
            servers[mode].desk = desk
            return TicketClient(servers[mode].url, mode=mode, retention=retention)

        yield start


@contextlib.contextmanager
def _serving(server: TicketServer) -> Iterator[TicketServer]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
