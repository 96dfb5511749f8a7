from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sample_app import db
from sample_app.demo import PAYLOAD, Hands
from sample_app.payloads import Payload

DiesAt = Callable[[str, Callable[[], object]], bool]


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
