from __future__ import annotations

import contextlib
import os
import signal
import sys
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


class SharedClock:
    """A clock moved by hand that all processes share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_text("0")

    def __call__(self) -> float:
        return float(self.path.read_text())

    def wait(self, seconds: float) -> None:
        part = self.path.with_suffix(f".{os.getpid()}")
        part.write_text(str(self() + seconds))
        part.replace(self.path)


class Children:
    """Processes of their own, in which something happens at `POINT` (its first hit) or `POINT+N`."""

    def __init__(self) -> None:
        self.stopped: list[int] = []

    def dies_at(self, point: str, act: Act) -> bool:
        """Killed there. Returns whether it got there."""
        return os.WIFSIGNALED(_wait(_fork(act, _at(point, _signal(signal.SIGKILL)))))

    def start_dying_at(self, point: str, act: Act) -> int:
        """In the background; returns the pid, for the caller to wait for."""
        return _fork(act, _at(point, _signal(signal.SIGKILL)))

    def raises_at(self, point: str, error: BaseException, act: Act) -> None:
        """`error` comes up there, and the code that passes it has to cope."""

        def fail() -> None:
            raise error

        _wait(_fork(act, _at(point, fail)))

    def stops_at(self, point: str, act: Act) -> Callable[[], None]:
        """Stopped there. Returns what wakes it and waits for its end."""
        pid = _fork(act, _at(point, _signal(signal.SIGSTOP)))
        if not os.WIFSTOPPED(_wait(pid)):
            return lambda: None
        self.stopped.append(pid)

        def resume() -> None:
            self.stopped.remove(pid)
            os.kill(pid, signal.SIGCONT)
            _wait(pid)

        return resume

    def points_of(self, act: Act) -> list[str]:
        """The app's points that it passes, with the number of the hit."""
        read, write = os.pipe()

        def note(event: str) -> None:
            os.write(write, f"{event}\n".encode())

        pid = _fork(act, lambda event: note(event) if event.startswith("sample_app.") else None)
        os.close(write)
        with os.fdopen(read) as pipe:
            names = pipe.read().split()
        _wait(pid)
        return [f"{name}+{names[: index + 1].count(name)}" for index, name in enumerate(names)]

    def end(self) -> None:
        for pid in self.stopped:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


@pytest.fixture
def children() -> Iterator[Children]:
    children = Children()
    yield children
    children.end()


@pytest.fixture
def dies_at(children: Children) -> DiesAt:
    return children.dies_at


@pytest.fixture
def shared_clock(tmp_path: Path) -> SharedClock:
    return SharedClock(tmp_path / "clock")


def _at(point: str, act: Callable[[], None]) -> Callable[[str], None]:
    name, _, nth = point.partition("+")
    left = int(nth or 1)

    def hook(event: str) -> None:
        nonlocal left
        if event == name:
            left -= 1
            if left == 0:
                act()

    return hook


def _signal(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def _fork(act: Act, hook: Callable[[str], None]) -> int:
    pid = os.fork()
    if pid == 0:
        sys.addaudithook(lambda event, args: hook(event))
        try:
            act()
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def _wait(pid: int) -> int:
    _, status = os.waitpid(pid, os.WUNTRACED)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
        raise AssertionError("the process ended by an error of its own")
    return status


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
