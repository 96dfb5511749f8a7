"""The guard: the process above every world and life, which outlives pytest by an instant.

It is forked from pytest, waits on a pipe of which only pytest holds the writing end, and kills every
descendant when that end is closed, which the kernel does however pytest dies. As a *subreaper* it
inherits orphans (double-forked daemons, children of a killed life), so that none escapes.

It is also the place that worlds are forked from: it keeps the memory of right after set-up.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import json
import os
import select
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from .errors import CrashWindowError, WorldBroken

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE = 30.0  # seconds for processes to be gone after SIGKILL; one in an uninterruptible call may need them


def fork_quietly() -> int:
    """`os.fork` with nothing left in buffers that both sides would print.

    CPython warns of forks from processes with threads. The child here runs no code that needs
    another thread's lock before it has reset what pytest and the plugin use.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


class Guard:
    """A guard process and its end in the process that made it.

    `child_main(order)` runs in each child that `fork` asks for, which it makes the leader of a process
    group; `prepare()` runs once in the guard;
    `debris` is a directory that the guard removes if the process that made it dies.
    """

    def __init__(
        self, child_main: Callable[[Any], None], debris: Path, prepare: Callable[[], None] = lambda: None
    ) -> None:
        orders, self._orders = os.pipe()
        self._events, events = os.pipe()
        self._unread: list[bytes] = []
        self._rest = b""
        self.pid = fork_quietly()
        if self.pid == 0:
            os.close(self._orders)
            os.close(self._events)
            _Keeper(orders, events, child_main, debris).serve(prepare)
        os.close(orders)
        os.close(events)
        try:
            self._expect("ready", None)
        except BaseException:
            self.close()
            raise

    @property
    def events(self) -> int:
        """A descriptor that is readable when `change` may have news."""
        return self._events

    def fork(self, order: object = None) -> int:
        """Fork a child of the guard; its pid."""
        self._order({"fork": order})
        return int(self._expect("forked", None)["pid"])

    def clear(self) -> None:
        """Kill everything below the guard; returns when it is gone."""
        self._order({"clear": True})
        self._expect("cleared", _PATIENCE + 5)

    def change(self, pid: int, timeout: float | None) -> int | None:
        """The next wait status (stop or end) of a child, or None if `timeout` seconds bring none."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            event = self._next(left)
            if event is None:
                return None
            if event.get("pid") == pid and event["event"] == "status":
                return int(event["status"])

    def end_of(self, pid: int) -> int | None:
        """The wait status with which a child ended, or None.

        Unlike `change` it tells it again to every process that has a copy of this object.
        """
        self._order({"ask": pid})
        status: int | None = self._expect("answer", _PATIENCE)["status"]
        return status

    def close(self) -> None:
        """End the guard and everything below it."""
        if self._orders < 0:
            return
        with contextlib.suppress(WorldBroken):
            self._order({"end": True})
        os.close(self._orders)
        self._orders = -1
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        os.close(self._events)

    def _order(self, order: dict[str, Any]) -> None:
        try:
            os.write(self._orders, json.dumps(order).encode() + b"\n")
        except BrokenPipeError:
            raise WorldBroken("the guard process is gone; was it killed from outside?") from None

    def _expect(self, kind: str, timeout: float | None) -> dict[str, Any]:
        kept: list[bytes] = []
        try:
            while True:
                event = self._next(timeout)
                if event is None:
                    raise WorldBroken(f"the guard process gave no answer within {timeout:.0f} s; was it stopped?")
                if event["event"] == kind:
                    return event
                kept.append(json.dumps(event).encode())
        finally:
            self._unread[:0] = kept

    def _next(self, timeout: float | None) -> dict[str, Any] | None:
        while not self._unread:
            ready = select.poll()
            ready.register(self._events, select.POLLIN)
            if not ready.poll(None if timeout is None else timeout * 1000):
                return None
            data = os.read(self._events, 65536)
            if not data:
                raise WorldBroken("the guard process ended; was it killed from outside?")
            *lines, self._rest = (self._rest + data).split(b"\n")
            self._unread += lines
        event: dict[str, Any] = json.loads(self._unread.pop(0))
        if event["event"] == "failed":
            raise CrashWindowError(event["text"])
        return event


class _Keeper:
    """The guard's own side."""

    def __init__(self, orders: int, events: int, child_main: Callable[[Any], None], debris: Path) -> None:
        self._orders, self._events, self._child_main = orders, events, child_main
        self._debris: Path | None = debris
        self._groups: list[int] = []
        self._ends: dict[int, int] = {}
        self._cleared = 0
        self._spare: tuple[int, int] | None = None
        """a child that waits for its order, and the descriptor to write that to"""

    def serve(self, prepare: Callable[[], None]) -> NoReturn:
        """Run until the other end of the pipe is closed, then leave nothing behind."""
        try:
            os.setsid()
            become_subreaper()
            self._mute_signals()
            self._prepare(prepare)
            self._loop()
        except BaseException:
            traceback.print_exc()
        finally:
            kill_descendants(self._groups)
            if self._debris is not None:
                shutil.rmtree(self._debris, ignore_errors=True)
            os._exit(0)

    def _mute_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)
        self._woken, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        self._former_wakeup = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self._former_sigchld = signal.signal(signal.SIGCHLD, lambda *_: None)

    def _prepare(self, prepare: Callable[[], None]) -> None:
        try:
            prepare()
            # A collection in a child would touch every object, and so copy the memory that a fork shares.
            gc.freeze()
        except CrashWindowError as error:
            self._tell("failed", text=str(error))
        except BaseException:
            self._tell("failed", text=f"the plugin could not prepare lives:\n{traceback.format_exc()}")
        else:
            self._tell("ready")

    def _loop(self) -> None:
        ready = select.poll()
        ready.register(self._orders, select.POLLIN)
        ready.register(self._woken, select.POLLIN)
        rest = b""
        while True:
            fds = {fd for fd, _ in ready.poll()}
            if self._woken in fds:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._report_changes()
            if self._orders in fds:
                data = os.read(self._orders, 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    order = json.loads(line)
                    if "end" in order:
                        self._debris = None
                        return  # not at the end of the pipe: guards forked later hold it as well
                    self._obey(order)

    def _obey(self, order: dict[str, Any]) -> None:
        if "clear" in order:
            kill_descendants(self._groups)
            self._tell("cleared")
            self._cleared += 1
            if self._cleared == 1:
                return  # a test that is no sweep has one world only
            if self._spare is not None:
                os.close(self._spare[1])
            self._spare = self._fork_waiting()  # the next one, while pytest reports the last
        elif "ask" in order:
            self._report_changes()
            self._tell("answer", status=self._ends.get(order["ask"]))
        else:
            self._fork(order["fork"])

    def _fork(self, order: object) -> None:
        pid, orders = self._spare or self._fork_waiting()
        self._spare = None
        with contextlib.suppress(BrokenPipeError):  # it was killed; its end is told as any other
            os.write(orders, json.dumps(order).encode())
        os.close(orders)
        self._tell("forked", pid=pid)

    def _fork_waiting(self) -> tuple[int, int]:
        waiting, orders = os.pipe()
        pid = fork_quietly()
        if pid == 0:
            os.close(orders)
            self._become_child(waiting)
        os.close(waiting)
        self._groups.append(pid)
        return pid, orders

    def _become_child(self, waiting: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(self._former_wakeup)  # asyncio of CPython 3.12 has unset ours at the fork
            for fd in (self._orders, self._events, self._woken, self._waker):
                os.close(fd)
            signal.signal(signal.SIGCHLD, self._former_sigchld or signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            die_with_parent()
            order = os.read(waiting, 65536)
            os.close(waiting)
            if order:  # else the guard is gone
                self._child_main(json.loads(order))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)  # the child's main ends the process itself; coming here is a failure

    def _report_changes(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
                if pid == 0:
                    return
                if not os.WIFSTOPPED(status):
                    self._ends[pid] = status
                self._tell("status", pid=pid, status=status)

    def _tell(self, event: str, **more: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._events, json.dumps({"event": event, **more}).encode() + b"\n")


@functools.cache  # made once in the guard, for all worlds
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """A second belt, for a guard that is killed itself: its children go with it (Linux)."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def become_subreaper() -> None:
    """Have orphans below this process become its children (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_descendants(groups: list[int]) -> None:
    """SIGKILL and reap all that is below this process, parents first, until nothing is left.

    A killed parent's children become ours and are seen in the next round. Where the system can't
    list children, the given process groups and the sessions of lives in them are all we know.
    """
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        for pid in _children(groups):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            break
        # Never wait without a limit: a list of children that changes meanwhile may lack one.
        time.sleep(0.0005)
    groups.clear()


def _children(groups: list[int]) -> list[int]:
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in listing.read_text().split()]
    except OSError:
        for group in groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        return list(groups)
