"""The guard alone: forking, news of its children, and the end of everything below it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow import originals
from pytest_crashwindow.errors import CrashWindowError, WorldBroken
from pytest_crashwindow.guard import Done, Guard

Make = Callable[..., Guard]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    guards: list[Guard] = []

    def make(child_main: Callable[[Any, Any], None], **more: Any) -> Guard:
        guards.append(Guard(child_main, tmp_path / "debris", **more))
        return guards[-1]

    (tmp_path / "debris").mkdir()
    yield make
    for guard in guards:
        guard.close()


def exits_with(await_order: Callable[[], int], _: object) -> None:
    os._exit(await_order())


def sleeps(*_: object) -> None:
    time.sleep(1000)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or since
        return False


def test_a_child_gets_its_order_and_its_end_is_told(make: Make) -> None:
    guard = make(exits_with)
    pid = guard.fork(7)
    status = guard.change(pid, 30)
    assert status is not None
    assert os.waitstatus_to_exitcode(status) == 7
    assert guard.end_of(pid) == status
    assert guard.change(pid, 0) is None


def test_stops_are_told(make: Make) -> None:
    guard = make(lambda *_: os.kill(os.getpid(), signal.SIGSTOP))
    status = guard.change(guard.fork(), 30)
    assert status is not None
    assert os.WIFSTOPPED(status)


def test_no_news_within_the_time_is_none(make: Make) -> None:
    guard = make(sleeps)
    pid = guard.fork()
    assert guard.change(pid, 0.01) is None
    assert guard.end_of(pid) is None


def test_clear_ends_what_is_below_and_the_guard_goes_on(make: Make) -> None:
    guard = make(lambda await_order, _: sleeps() if await_order() == "sleep" else os._exit(0))
    pid = guard.fork("sleep")
    guard.clear()
    guard.await_clear()
    assert not is_alive(pid)
    assert guard.change(guard.fork("exit"), 30) == 0


def test_what_clear_kills_is_gone_before_the_next_child(make: Make, tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def child(await_order: Callable[[], int | None], _: object) -> None:
        order = await_order()
        if order is None:
            time.sleep(1000)
        seen.write_text(str(is_alive(order or 0)))
        os._exit(0)

    guard = make(child)
    pid = guard.fork(None)
    guard.clear()
    assert guard.change(guard.fork(pid), 30) == 0
    assert seen.read_text() == "False"


def test_a_child_may_say_that_it_is_done_before_it_ends(make: Make) -> None:
    def child(_: object, done: Done) -> None:
        done()
        time.sleep(1000)

    guard = make(child)
    pid = guard.fork()
    assert guard.end(pid, 30) == "done"
    assert guard.change(pid, 0.01) is None
    assert is_alive(pid)


def test_an_end_is_told_even_if_the_child_could_not_say_that_it_is_done(make: Make, tmp_path: Path) -> None:
    """Its code closed all descriptors, and the number of the pipe is that of a file of its own now."""

    def child(_: object, done: Done) -> None:
        os.closerange(3, 1000)
        for _ in range(500):
            os.open(tmp_path / "own", os.O_WRONLY | os.O_CREAT)
        done()
        os._exit(0)

    guard = make(child)
    assert guard.end(guard.fork(), 30) == 0
    assert (tmp_path / "own").read_text() == ""


def test_before_each_runs_in_the_guard_before_a_child_gets_its_order(make: Make, tmp_path: Path) -> None:
    (tmp_path / "seen").touch()

    def child(await_order: Callable[[], None], _: object) -> None:
        await_order()
        os._exit(len((tmp_path / "seen").read_text()))

    def note() -> None:
        with open(tmp_path / "seen", "a") as file:
            file.write("x")

    guard = make(child, before_each=note)
    for seen in (1, 2, 3):
        status = guard.change(guard.fork(), 30)
        assert status is not None
        assert os.waitstatus_to_exitcode(status) == seen


def test_what_before_each_raises_is_raised_by_fork(make: Make) -> None:
    guard = make(exits_with, before_each=lambda: 1 / 0)
    with pytest.raises(CrashWindowError, match=r"could not make the state as it was(?s:.*)ZeroDivisionError"):
        guard.fork(0)


def waiting_child(guard: Guard) -> int:
    """The child that the guard has forked ahead."""
    for _ in range(2):
        assert guard.change(guard.fork(0), 30) == 0
    children = Path(f"/proc/{guard.pid}/task/{guard.pid}/children")
    deadline = time.monotonic() + 30
    while not children.read_text() and time.monotonic() < deadline:
        time.sleep(0.001)
    return int(children.read_text())


def test_the_child_after_the_second_one_waits_for_its_order(make: Make) -> None:
    guard = make(exits_with)
    waiting = waiting_child(guard)
    assert guard.fork(7) == waiting
    status = guard.change(waiting, 30)
    assert status is not None
    assert os.waitstatus_to_exitcode(status) == 7


def test_clear_leaves_a_waiting_child_alone(make: Make) -> None:
    guard = make(exits_with)
    waiting = waiting_child(guard)
    guard.clear()
    guard.await_clear()
    assert guard.fork(0) == waiting
    assert guard.change(waiting, 30) == 0


def test_a_waiting_child_that_was_killed_is_replaced(make: Make) -> None:
    guard = make(exits_with)
    waiting = waiting_child(guard)
    os.kill(waiting, signal.SIGKILL)
    guard.clear()
    other = guard.fork(0)
    assert guard.change(other, 30) == (signal.SIGKILL if other == waiting else 0)


def test_a_fork_ahead_that_fails_harms_nobody(make: Make, tmp_path: Path) -> None:
    forks, tried = [], tmp_path / "tried"

    def fork() -> int:
        forks.append(1)
        if len(forks) == 3:  # the one ahead
            tried.touch()
            raise BlockingIOError("too many processes")
        return os.fork()

    guard = make(exits_with, prepare=lambda: setattr(originals, "fork", fork))
    for _ in range(2):
        assert guard.change(guard.fork(0), 30) == 0
    deadline = time.monotonic() + 30
    while not tried.exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert guard.change(guard.fork(0), 30) == 0


def test_a_fork_that_fails_is_an_error_that_says_so(make: Make) -> None:
    def fork() -> int:
        raise BlockingIOError("too many processes")

    guard = make(exits_with, prepare=lambda: setattr(originals, "fork", fork))
    with pytest.raises(CrashWindowError, match=r"could not fork:\n(?s:.*)too many processes"):
        guard.fork(0)


def test_close_ends_a_waiting_child(make: Make) -> None:
    guard = make(exits_with)
    waiting = waiting_child(guard)
    guard.close()
    assert not is_alive(waiting)


def test_close_ends_all_and_may_be_repeated(make: Make, tmp_path: Path) -> None:
    guard = make(sleeps)
    pid = guard.fork()
    guard.close()
    guard.close()
    assert not is_alive(pid)
    assert not is_alive(guard.pid)
    assert (tmp_path / "debris").exists()  # the maker's affair, as long as it lives


def test_guards_that_know_of_each_other_end_in_any_order(make: Make) -> None:
    """A guard forked later holds the earlier one's pipe; its end doesn't wait for that."""
    first, second = make(sleeps), make(sleeps)
    first.close()
    second.close()


def test_closing_leaves_no_descriptor(make: Make) -> None:
    before = sorted(os.listdir("/dev/fd"))
    make(sleeps).close()
    assert sorted(os.listdir("/dev/fd")) == before


def test_what_preparing_raises_is_raised_by_the_maker(make: Make) -> None:
    def fails() -> None:
        raise CrashWindowError("no such call")

    with pytest.raises(CrashWindowError, match=r"^no such call$"):
        make(sleeps, prepare=fails)


def test_an_unexpected_error_in_preparing_comes_with_its_traceback(make: Make) -> None:
    with pytest.raises(CrashWindowError, match=r"the plugin could not prepare lives:\n(?s:.*)ZeroDivisionError"):
        make(sleeps, prepare=lambda: 1 / 0)


def test_a_guard_that_was_killed_is_an_error_that_says_so(make: Make) -> None:
    guard = make(exits_with)
    os.kill(guard.pid, signal.SIGKILL)
    os.waitpid(guard.pid, 0)
    with pytest.raises(WorldBroken, match=r"the guard process ended; was it killed from outside"):
        guard.fork(0)


def test_a_child_whose_main_returns_or_raises_ends_with_a_failure(make: Make) -> None:
    guard = make(lambda *_: None)
    status = guard.change(guard.fork(), 30)
    assert status is not None
    assert os.waitstatus_to_exitcode(status) == 70
