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
import os
import select
import shutil
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

from . import originals
from .errors import CrashWindowError, WorldBroken
from .record import file_of, out_of_the_way

Done = Callable[[], None]
"""tells that nothing is left to do but end"""

_GONE = "the guard process ended; was it killed from outside?"
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IDLE = 0.008  # seconds without anything to do after which the next child is forked ahead
_PATIENCE = 30.0  # seconds for processes to be gone after SIGKILL; one in an uninterruptible call may need them

ChildMain = Callable[[Callable[[], Any], Done], None]


def fork_quietly() -> int:
    """`os.fork` with nothing left in buffers that both sides would print.

    CPython warns of forks from processes with threads, since 3.12. The child here runs no code that needs
    another thread's lock before it has reset what pytest and the plugin use.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.version_info < (3, 12):
        return originals.fork()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return originals.fork()


def let_others_run() -> None:
    """A process that was just forked waits for the processor of its parent, even if there are others."""
    if originals.give_way is not None:
        originals.give_way()


class Guard:
    """A guard process and its end in the process that made it.

    `child_main(await_order, done)` runs in each child, which it makes the leader of a process group. What
    it does before `await_order()`, which returns what `fork` was given, may be done long before. Calling
    `done()` there announces the end, see `end`. `prepare()` runs once in the guard, and `before_each()`
    before a child gets its order; `debris` is a directory that the guard removes if the process that made
    it dies.
    """

    def __init__(
        self,
        child_main: ChildMain,
        debris: Path,
        prepare: Callable[[], None] = lambda: None,
        before_each: Callable[[], None] = lambda: None,
    ) -> None:
        orders, self._orders = originals.pipe()
        self._events, events = originals.pipe()
        # A pipe of its own: the end of the other one tells that the guard is gone, whoever holds this one.
        self._said, said = originals.pipe()
        self._unread: list[bytes] = []
        self._rest = {self._events: b"", self._said: b""}
        self._clearing = False
        self.pid = fork_quietly()
        if self.pid == 0:
            for fd in (self._orders, self._events, self._said):
                originals.close(fd)
            _Keeper(orders, events, said, child_main, before_each, debris).serve(prepare)
        for fd in (orders, events, said):
            originals.close(fd)
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
        """Fork a child of the guard; its pid. Raises CrashWindowError if `before_each` fails."""
        self._order({"fork": order})
        self.await_clear()
        return int(self._expect("forked", None)["pid"])

    def clear(self) -> None:
        """Kill everything below the guard: it is gone before the next child, or when `await_clear` returns."""
        self._order({"clear": True})
        self._clearing = True

    def await_clear(self) -> None:
        """Wait until what `clear` kills is gone."""
        if self._clearing:
            self._expect("cleared", _PATIENCE + 5)
            self._clearing = False

    def change(self, pid: int, timeout: float | None) -> int | None:
        """The next wait status (stop or end) of a child, or None if `timeout` seconds bring none."""
        event = self._next_of(pid, ("status",), timeout)
        return None if event is None else int(event["status"])

    def end(self, pid: int, timeout: float) -> int | Literal["done"] | None:
        """As `change`; but `"done"` as soon as a child says so."""
        event = self._next_of(pid, ("status", "done"), timeout)
        if event is None or event["event"] == "status":
            return None if event is None else int(event["status"])
        return "done"

    def _next_of(self, pid: int, kinds: Sequence[str], timeout: float | None) -> dict[str, Any] | None:
        deadline = None if timeout is None else originals.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - originals.monotonic())
            event = self._next(left)
            if event is None or (event.get("pid") == pid and event["event"] in kinds):
                return event

    def end_of(self, pid: int) -> int | None:
        """The wait status with which a child ended, or None.

        Unlike `change` it tells it again to every process that has a copy of this object.
        """
        question = f"{pid} {originals.getpid()} {originals.monotonic_ns()}"  # others may have died before the answer
        self._order({"ask": question})
        while (answer := self._expect("answer", _PATIENCE))["to"] != question:
            pass
        status: int | None = answer["status"]
        return status

    def close(self) -> None:
        """End the guard and everything below it."""
        if self._orders < 0:
            return
        with contextlib.suppress(WorldBroken):
            self._order({"end": True})
        originals.close(self._orders)
        self._orders = -1
        with contextlib.suppress(ChildProcessError):
            originals.waitpid(self.pid, 0)
        originals.close(self._events)
        originals.close(self._said)

    def _order(self, order: dict[str, Any]) -> None:
        try:
            originals.write(self._orders, originals.to_json(order).encode() + b"\n")
        except BrokenPipeError:
            raise WorldBroken(_GONE) from None

    def _expect(self, kind: str, timeout: float | None) -> dict[str, Any]:
        kept: list[bytes] = []
        try:
            while True:
                event = self._next(timeout)
                if event is None:
                    raise WorldBroken(f"the guard process gave no answer within {timeout:.0f} s; was it stopped?")
                if event["event"] == kind:
                    return event
                kept.append(originals.to_json(event).encode())
        finally:
            self._unread[:0] = kept

    def _next(self, timeout: float | None) -> dict[str, Any] | None:
        while not self._unread:
            ready = originals.poll()
            ready.register(self._events, select.POLLIN)
            ready.register(self._said, select.POLLIN)
            fds = {fd for fd, _ in ready.poll(None if timeout is None else timeout * 1000)}
            if not fds:
                return None
            for fd in sorted(fds, key=(self._said, self._events).index):  # what a child says comes before its end
                data = originals.read(fd, 65536)
                if not data and fd == self._events:
                    raise WorldBroken(_GONE)
                *lines, self._rest[fd] = (self._rest[fd] + data).split(b"\n")
                self._unread += lines
        event: dict[str, Any] = originals.from_json(self._unread.pop(0))
        if event["event"] == "failed":
            raise CrashWindowError(event["text"])
        return event


class _Keeper:
    """The guard's own side."""

    def __init__(
        self,
        orders: int,
        events: int,
        said: int,
        child_main: ChildMain,
        before_each: Callable[[], None],
        debris: Path,
    ) -> None:
        self._orders, self._events, self._said = orders, events, out_of_the_way(said)
        self._said_to = file_of(self._said)
        self._child_main, self._before_each = child_main, before_each
        self._debris: Path | None = debris
        self._groups: list[int] = []
        self._ends: dict[int, int] = {}
        self._forked = 0
        self._spare: tuple[int, int] | None = None
        """a child that waits for its order, and the descriptor to write that to"""
        self._wants_spare = False
        """whether the next child is to be forked when there is nothing else to do"""

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
            originals.leave(0)

    def _mute_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            originals.set_signal(number, signal.SIG_IGN)
        self._woken, self._waker = originals.pipe()
        os.set_blocking(self._waker, False)
        os.set_blocking(self._woken, False)
        self._former_wakeup = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        self._former_sigchld = originals.set_signal(signal.SIGCHLD, lambda *_: None)

    def _prepare(self, prepare: Callable[[], None]) -> None:
        if self._succeeds(prepare, "could not prepare lives"):
            # A collection in a child would touch every object, and so copy the memory that a fork shares.
            gc.freeze()
            self._tell("ready")

    def _succeeds(self, action: Callable[[], None], else_said: str) -> bool:
        try:
            action()
        except CrashWindowError as error:
            self._tell("failed", text=str(error))
            return False
        except BaseException:
            self._tell("failed", text=f"the plugin {else_said}:\n{traceback.format_exc()}")
            return False
        return True

    def _loop(self) -> None:
        ready = originals.poll()
        ready.register(self._orders, select.POLLIN)
        ready.register(self._woken, select.POLLIN)
        rest = b""
        while True:
            fds = {fd for fd, _ in ready.poll(_IDLE * 1000 if self._wants_spare else None)}
            if self._wants_spare and not fds:
                self._wants_spare = False
                with contextlib.suppress(OSError):  # too many processes; perhaps not when one is needed
                    self._spare = self._fork_waiting()
            if self._woken in fds:
                with contextlib.suppress(BlockingIOError):
                    originals.read(self._woken, 4096)
                self._report_changes()
            if self._orders in fds:
                data = originals.read(self._orders, 65536)
                if not data:
                    return
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    order = originals.from_json(line)
                    if "end" in order:
                        self._debris = None
                        return  # not at the end of the pipe: guards forked later hold it as well
                    self._obey(order)

    def _obey(self, order: dict[str, Any]) -> None:
        if "clear" in order:
            self._clear()
        elif "ask" in order:
            self._report_changes()
            self._tell("answer", to=order["ask"], status=self._ends.get(int(order["ask"].split()[0])))
        elif self._succeeds(self._before_each, "could not make the state as it was after set-up"):
            self._succeeds(lambda: self._fork(order["fork"]), "could not fork")

    def _clear(self) -> None:
        spare = self._spare[0] if self._spare else None
        kill_descendants(self._groups, spared=spare)
        if spare is not None and not _exists(spare):
            self._forget_spare()
        self._tell("cleared")

    def _fork(self, order: object) -> None:
        pid, orders = self._spare or self._fork_waiting()
        self._spare = None
        self._groups.append(pid)
        with contextlib.suppress(BrokenPipeError):  # it was killed; its end is told as any other
            originals.write(orders, originals.to_json(order).encode())
        originals.close(orders)
        self._tell("forked", pid=pid)
        self._forked += 1
        self._wants_spare = self._forked > 1  # a test that is no sweep has one child only

    def _fork_waiting(self) -> tuple[int, int]:
        waiting, orders = originals.pipe()
        pid = fork_quietly()
        if pid == 0:
            originals.close(orders)
            self._become_child(waiting)
        originals.close(waiting)
        return pid, orders

    def _become_child(self, waiting: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(self._former_wakeup)  # asyncio of CPython 3.12 has unset ours at the fork
            for fd in (self._orders, self._events, self._woken, self._waker):
                originals.close(fd)
            originals.set_signal(signal.SIGCHLD, self._former_sigchld or signal.SIG_DFL)
            originals.set_signal(signal.SIGINT, signal.default_int_handler)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                originals.set_signal(number, signal.SIG_DFL)
            die_with_parent()
            self._child_main(functools.partial(_order_from, waiting), self._done)
        except BaseException:
            traceback.print_exc()
        finally:
            originals.leave(70)  # the child's main ends the process itself; coming here is a failure

    def _done(self) -> None:
        """In a child: say it, unless the code under test has closed the pipe; the end itself tells as well."""
        if file_of(self._said) == self._said_to:
            said = originals.to_json({"event": "done", "pid": originals.getpid()})
            originals.write(self._said, said.encode() + b"\n")

    def _report_changes(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = originals.waitpid(-1, os.WNOHANG | os.WUNTRACED)
                if pid == 0:
                    return
                if self._spare and pid == self._spare[0] and not os.WIFSTOPPED(status):
                    self._forget_spare()
                    continue
                if not os.WIFSTOPPED(status):
                    self._ends[pid] = status
                self._tell("status", pid=pid, status=status)

    def _forget_spare(self) -> None:
        """Somebody killed it; another one is forked when it is needed."""
        if self._spare is not None:
            originals.close(self._spare[1])
            self._spare = None

    def _tell(self, event: str, **more: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            originals.write(self._events, originals.to_json({"event": event, **more}).encode() + b"\n")


def _order_from(fd: int) -> Any:
    order = originals.read(fd, 65536)
    originals.close(fd)
    if not order:  # the guard is gone
        originals.leave(70)
    return originals.from_json(order)


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


def kill_descendants(groups: list[int], spared: int | None = None) -> None:
    """SIGKILL and reap all that is below this process but one child, parents first, until nothing is left.

    A killed parent's children become ours and are seen in the next round. Where the system can't
    list children, the given process groups and the sessions of lives in them are all we know.
    """
    deadline = originals.monotonic() + _PATIENCE
    # A child stays in the list until it's reaped, which is done here alone, so an empty list is no chance.
    while (below := [pid for pid in _children(groups) if pid != spared]) and originals.monotonic() < deadline:
        for pid in below:
            _killed(originals.kill, pid)
        with contextlib.suppress(ChildProcessError):
            while originals.waitpid(-1, os.WNOHANG)[0]:
                pass
        originals.sleep(0.0005)
    groups.clear()


def _children(groups: list[int]) -> list[int]:
    try:
        return [int(pid) for pid in originals.read_file(f"/proc/self/task/{originals.getpid()}/children").split()]
    except OSError:
        return [group for group in groups if _killed(originals.killpg, group) or _killed(originals.kill, group)]


def _exists(pid: int) -> bool:
    try:
        originals.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _killed(kill: Callable[[int, int], None], pid: int) -> bool:
    try:
        kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True
