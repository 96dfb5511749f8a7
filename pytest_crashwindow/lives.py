"""Lives as their starter sees them: start, watch, pause, wake, kill and reap one process."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, Protocol

from . import originals
from .blocking import sounds_locked
from .errors import LifeNotOver, UnattributedDeath, Unpicklable
from .guard import Guard, fork_quietly, let_others_run
from .living import STACKS_SIGNAL, LifeFiles, Result
from .record import Fired
from .stacks import own_part
from .tracker import EXIT_STATUS, OWN_FAILURE
from .windows import Step, Window

_TICK = 0.05  # seconds between looks for what no descriptor announces: a stop that isn't ours
_STOP_PATIENCE = 2.0  # seconds from a life's note that it stops until it does; a long call may keep the GIL meanwhile
_DEATH_PATIENCE = 10.0  # seconds for a process that was killed to be gone; one with much memory needs some
_EXITING = 0x4  # PF_EXITING, a flag of processes in Linux
_STACKS_PATIENCE = 2.0  # seconds for a hung life to write its stacks


class Child(Protocol):
    """A process that can be watched. Implemented for our own children and for those of a guard."""

    pid: int

    def change(self, timeout: float) -> int | None:
        """The next wait status (stop or end), or None if `timeout` seconds bring none."""

    @property
    def descriptor(self) -> int | None:
        """Readable when `change` may have news; None where the system has no such thing."""

    def close(self) -> None:
        """Let go of descriptors, after the end."""


class OwnChild:
    """A child of this process."""

    def __init__(self, main: Callable[[], NoReturn]) -> None:
        self.pid = fork_quietly()
        if self.pid == 0:
            main()
        let_others_run()  # the child, which otherwise waits until this process has nothing to do
        self._pidfd = os.pidfd_open(self.pid) if hasattr(os, "pidfd_open") else None

    @property
    def descriptor(self) -> int | None:
        return self._pidfd

    def change(self, timeout: float) -> int | None:
        deadline = originals.monotonic() + timeout
        while True:
            try:
                pid, status = originals.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return 0  # a wait() of the test's own took the status; a result says that all is well
            if pid:
                return status
            if originals.monotonic() >= deadline:
                return None
            originals.sleep(0.0002)

    def close(self) -> None:
        if self._pidfd is not None:
            originals.close(self._pidfd)
            self._pidfd = None


class GuardedChild:
    """A child of a guard of its own: a life that is started outside a world, while fixtures are set up."""

    def __init__(self, main: Callable[[], NoReturn], debris: Path) -> None:
        self._guard = Guard(lambda await_order, _: (await_order(), main())[1], debris)
        self.pid = self._guard.fork()

    @property
    def descriptor(self) -> int | None:
        return self._guard.events

    def change(self, timeout: float) -> int | None:
        # Set-up, the test body and tear-down are three processes, of which one alone gets the news.
        status = self._guard.end_of(self.pid)
        if status is None:
            status = self._guard.change(self.pid, timeout)
        # The guard takes a stop at once; if the process was woken since, it is news of yesterday.
        is_stale = status is not None and os.WIFSTOPPED(status) and _state_of(self.pid) not in ("T", None)
        return None if is_stale else status

    def close(self) -> None:
        """Its children may go on, as those of any program; `retire` ends them."""

    def retire(self) -> None:
        """End the guard, and whatever the life left behind."""
        self._guard.close()


class Surround(Protocol):
    """What a life asks of the world it is in."""

    def fired(self) -> list[Fired]:
        """The records of faults so far."""

    def hits_of(self, life: str) -> list[str]:
        """The hits of one life, in order."""

    def is_deadly(self, fired: Fired) -> bool:
        """Whether this fault ends the process."""

    def tell(self, event: str, life: str, **more: Any) -> None:
        """Put something into the timeline."""

    def end_of(self, life: str) -> str | None:
        """The outcome of a life as it was told, be it by another process."""

    def blame(self, verdict: str, text: str) -> None:
        """This world can't pass any more."""

    def waited_in_vain(self, who: str) -> None:
        """Write down which paused life stood in the way of this one."""


class Life:
    """One process that executes the user's code. Made by `run`, `start` and `supervise`."""

    def __init__(
        self, name: str, child: Child, files: LifeFiles, world: Surround, wake: int, resume: int, limit: float
    ) -> None:
        self.name = name
        """unique in its world"""
        self.pid = child.pid
        self._child, self._files, self._world = child, files, world
        self._wake, self._resume, self._limit = wake, resume, limit
        self._state = "running"
        self._was_asked = False
        """whether the test asked what became of it"""
        self._held = 0
        """how many of its threads read from `resume` to go on"""
        self._stopped = False
        """whether it is stopped as a whole"""
        self._owes_stop = False
        """whether it was stopped from here before it could stop itself, which it does once it goes on"""
        self._result: Result | None = None
        self._status: int | None = None
        self.timeout_was_seen = False
        """whether somebody read an `outcome` of "timed out", and so has taken the decision himself"""
        self.stacks = ""
        self.timeout_text = ""

    def __repr__(self) -> str:
        return f"<Life {self.name} {self._state}>"

    # -- what became of it -------------------------------------------------------------------

    @property
    def outcome(self) -> str:
        """`"returned"`, `"raised"`, `"crashed"`, `"paused"`, `"killed"` or `"timed out"`.

        A life in the background that still runs says `"running"`.
        """
        self._was_asked = True
        self.timeout_was_seen |= self.now == "timed out"
        return self._state

    @property
    def now(self) -> str:
        """The outcome, for the plugin: to read it doesn't count as asking."""
        self._look()
        return self._state

    @property
    def raised_unseen(self) -> bool:
        """Whether the target raised, though no fault fired in it, and the test never asked."""
        return self._state == "raised" and not self._was_asked and self.window is None

    @property
    def raised(self) -> str:
        """The exception in one line."""
        return self._headline()

    @property
    def crashed(self) -> bool:
        """Whether a fault of this world ended it."""
        self._look()
        return self._state == "crashed"

    @property
    def paused(self) -> bool:
        """Whether it (or with `scope="thread"` one of its threads) is stopped at a point."""
        self._look()
        return self._state == "paused"

    @property
    def over(self) -> bool:
        """Whether the process has ended."""
        self._look()
        return self._over

    @property
    def _over(self) -> bool:
        return self._status is not None

    @property
    def value(self) -> Any:
        """What the target returned; the exception of one that raised is raised here."""
        __tracebackhide__ = True
        self._was_asked = True
        result = self._over_result()
        if result.outcome == "raised":
            error = self.error
            assert error is not None
            raise error
        if result.payload is None:
            raise Unpicklable(
                f"life {self.name!r} returned a {result.kind}, which can't come back to the test "
                f"({result.problem}). Return plain data instead."
            )
        return _loaded(result, self.name)

    @property
    def error(self) -> BaseException | None:
        """The exception of a life that raised, with the life's own traceback as a note; else None."""
        self._was_asked = True
        if self._result is None or self._result.outcome != "raised":
            return None
        if self._result.payload is None:
            error: BaseException = Unpicklable(
                f"life {self.name!r} raised a {self._result.kind}, which can't come back to the test "
                f"({self._result.problem}). Its traceback says what it was."
            )
        else:
            try:
                error = _loaded(self._result, self.name)
            except Unpicklable as problem:
                error = problem
        error.add_note(f"in life {self.name!r}:\n{self._result.traceback}")
        return error

    @property
    def returncode(self) -> int | None:
        """The exit status as `subprocess` gives it; negative for a signal, None while it lives."""
        return None if self._status is None else os.waitstatus_to_exitcode(self._status)

    @property
    def hits(self) -> list[str]:
        """The points passed, in order: `["shop.order.committed+1", ...]`."""
        return self._world.hits_of(self.name)

    @property
    def window(self) -> Window | None:
        """The fault (or faults) that fired in this life."""
        steps = [Step(f.point, f.ordinal, f.fault) for f in self._world.fired() if f.life == self.name]
        return Window(tuple(steps)) if steps else None

    @property
    def stdout(self) -> str:
        """What it and its children printed."""
        return _text_of(self._files.stdout)

    @property
    def stderr(self) -> str:
        """What it and its children printed to stderr, logging and thread tracebacks included."""
        return _text_of(self._files.stderr)

    def _over_result(self) -> Result:
        __tracebackhide__ = True
        self._look()
        if self._result is None:
            hint = {
                "running": "is still running: wait() for it",
                "paused": "is paused: resume() it",
            }.get(self._state, f"has no value, it {'was ' if self._state == 'killed' else ''}{self._state}")
            raise LifeNotOver(f"life {self.name!r} {hint}")
        return self._result

    # -- waiting and acting ------------------------------------------------------------------

    def wait(self) -> Life:
        """Wait for the end, at most `crashwindow_life_timeout` seconds; then the life is ended.

        Raises LifeNotOver for a life that is stopped as a whole, which would never end.
        """
        __tracebackhide__ = True
        self._look()
        if self._stopped:
            raise LifeNotOver(f"life {self.name!r} is paused and would never end: resume() it first")
        self._watch(lambda: self._over or self._stopped)
        if self._stopped:
            raise LifeNotOver(f"life {self.name!r} paused instead of ending: resume() it first")
        return self

    def wait_paused(self) -> Life:
        """Wait until it is paused. Raises LifeNotOver if it ends instead."""
        __tracebackhide__ = True
        self._watch(lambda: self._over or self._state == "paused")
        if self._state != "paused":
            passed = ", ".join(self.hits) or "no point"
            raise LifeNotOver(f"life {self.name!r} was to be paused, but {self._state}; it passed {passed}")
        return self

    def wait_idle(self) -> Life:
        """Wait until it ends or is paused."""
        __tracebackhide__ = True
        self._watch(lambda: self._over or self._state == "paused")
        return self

    def resume(self, wait: bool = True) -> Life:
        """Wake a paused life and wait until it ends or is paused again; on any other do nothing."""
        __tracebackhide__ = True
        self._look()
        if self._state != "paused":
            return self
        self._world.tell("resumed", self.name)
        held, stopped = self._held, self._stopped
        self._state, self._held, self._stopped = "running", 0, False
        originals.write(self._resume, b"r" * held)
        if stopped:
            self._signal(signal.SIGCONT)
            self._wake_process_outside_group()
        return self.wait_idle() if wait else self

    def kill(self) -> Life:
        """SIGKILL to the whole life, from outside. An ended life stays as it is."""
        __tracebackhide__ = True
        self._look()
        if self._over:
            return self
        end = self._end_under_way()
        if end is None:
            self._end("killed")
        else:
            self._ended(end)
        return self

    def retire(self) -> None:
        """For one that was started while fixtures were set up: end it with all that it left behind."""
        if isinstance(self._child, GuardedChild):
            with contextlib.suppress(UnattributedDeath):
                self.kill()
            self._child.retire()

    def _end(self, state: str) -> None:
        self._signal(signal.SIGKILL)
        while (status := self._child.change(60)) is not None and os.WIFSTOPPED(status):
            pass
        self._close(status if status is not None else signal.SIGKILL, state)

    def _end_under_way(self) -> int | None:
        """The wait status of a life that dies already, though nobody has heard of it yet; else None.

        A process that was killed needs a while to be gone, and no longer stops. One that does was alive.
        """
        state = _state_of(self.pid)
        if state == "T":
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            originals.kill(self.pid, signal.SIGSTOP)
        # One that was stopped already gives no news of another stop.
        patience = _STOP_PATIENCE if self._stopped and state is None else _DEATH_PATIENCE
        status = self._child.change(patience)
        return None if status is None or os.WIFSTOPPED(status) else status

    def wait_if_dying(self) -> None:
        """Take in the end of one that was killed a moment ago and isn't gone yet (Linux). Sends it nothing."""
        __tracebackhide__ = True
        self._look()
        deadline = originals.monotonic() + _DEATH_PATIENCE
        while not self._over and _is_dying(self.pid) and originals.monotonic() < deadline:
            self._take_in(_TICK)

    def _signal(self, number: int) -> None:
        """To the life's group, and, but for a question, to children that made a session of their own."""
        elsewhere = _descendants(self.pid) if number != STACKS_SIGNAL else []
        with contextlib.suppress(ProcessLookupError, PermissionError):
            try:
                originals.killpg(self.pid, number)
            except ProcessLookupError:  # so young that it has no group of its own yet
                originals.kill(self.pid, number)
        self._signal_outside_group(elsewhere, number)

    def _signal_outside_group(self, pids: list[int], number: int) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if originals.getpgid(pid) != self.pid:
                    originals.kill(pid, number)

    def _wake_process_outside_group(self) -> None:
        """A child of the life that made a session of its own stopped itself; only its record names it."""
        for fired in self._world.fired():
            if fired.life == self.name and fired.pid != self.pid and fired.fault == "pause":
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    originals.kill(fired.pid, signal.SIGCONT)

    # -- watching ----------------------------------------------------------------------------

    def _look(self) -> None:
        """Take in what has happened, without waiting."""
        __tracebackhide__ = True
        while not self._over and self._take_in(0):
            pass

    def _watch(self, until: Callable[[], bool]) -> None:
        __tracebackhide__ = True
        deadline = originals.monotonic() + self._limit
        self._look()
        while not until():
            left = deadline - originals.monotonic()
            if left <= 0:
                self._time_out()
                return
            self._take_in(min(left, _TICK))

    def _take_in(self, timeout: float) -> bool:
        """One piece of news at most; False if there was none within `timeout` seconds."""
        __tracebackhide__ = True
        ready = originals.poll()
        # A note that came before the stop is read after it: each pause is resumed by itself.
        for fd in (-1 if self._stopped else self._wake, self._child.descriptor):
            if fd is not None and fd >= 0:
                ready.register(fd, select.POLLIN)
        if self._child.descriptor is None:
            timeout = min(timeout, 0.005)
        fds = {fd for fd, _ in ready.poll(timeout * 1000)}
        if self._wake in fds:
            note = originals.read(self._wake, 1)
            if note:
                return self._noted(note)
            originals.close(self._wake)  # nobody can write to it any more
            self._wake = -1
        status = self._child.change(0)
        if status is None:
            return False
        if os.WIFSTOPPED(status):
            self._stopped_before_its_note_was_seen()
        else:
            self._ended(status)
        return True

    def _stopped_before_its_note_was_seen(self) -> None:
        """A fault writes its note before it stops the life; so if this stop is one, the note is there by now.

        Left unread, it would be taken for another pause once the life is resumed.
        """
        ready, noted = originals.poll(), False
        if self._wake >= 0 and not self._stopped:
            ready.register(self._wake, select.POLLIN)
            noted = bool(ready.poll(0) and originals.read(self._wake, 1))
        owed, self._owes_stop = self._owes_stop, False
        if owed and not noted:  # of a pause that the test has resumed
            self._signal(signal.SIGCONT)
            return
        self._held += noted
        self._signal_outside_group(_descendants(self.pid), signal.SIGSTOP)
        self._pause(stopped=True)

    def _noted(self, note: bytes) -> bool:
        self._held += 1
        if note == b"H":
            self._pause(stopped=False)
            return True
        status = self._own_stop()
        if status is None:
            self._owes_stop = not self._paused_outside_group()
            self._signal(signal.SIGSTOP)
            status = self._child.change(60)
        if status is not None and not os.WIFSTOPPED(status):
            self._ended(status)
        elif status is not None:
            self._signal_outside_group(_descendants(self.pid), signal.SIGSTOP)
            self._pause(stopped=True)
        return True

    def _own_stop(self) -> int | None:
        """The wait status of the stop that a note announces: the life stops itself, right after the note.

        A stop from here could come before that one, and the life would be stopped a second time once it is
        resumed. None if the stop doesn't come: if it was one with that of another thread, or of a process
        that isn't in the life's group.
        """
        deadline = originals.monotonic() + _STOP_PATIENCE
        status = self._child.change(_TICK / 10)
        while status is None and originals.monotonic() < deadline and not self._paused_outside_group():
            status = self._child.change(_TICK / 10)
        return status

    def _paused_outside_group(self) -> bool:
        """Whether a child of the life that made a session of its own has stopped itself (Linux)."""
        pids = {f.pid for f in self._world.fired() if f.life == self.name and f.fault == "pause"}
        return any(_state_of(pid) == "T" for pid in pids - {self.pid})

    def _pause(self, stopped: bool) -> None:
        self._stopped |= stopped
        self._state = "paused"
        self._world.tell("paused", self.name, held=not stopped)

    def _ended(self, status: int) -> None:
        __tracebackhide__ = True
        self._result = _read_result(self._files.result)
        told = self._end_told_before()
        if told is not None:
            self._close(status, told)
        elif self._result is not None and status == 0:
            if sounds_locked(f"{self._headline()}\n{self._last_line()}"):
                self._world.waited_in_vain(self.name)
            self._close(status, self._result.outcome)
        elif self._explained(status):
            self._result = None
            self._close(status, "crashed")
        else:
            self._result = None
            self._close(status, "unattributed death")
            text = self._unattributed(status)
            self._world.blame("unattributed death", text)
            raise UnattributedDeath(f"unattributed death: {text}")

    def _end_told_before(self) -> str | None:
        """Of a life of a fixture: what became of it, if another process of this test has seen its end."""
        return self._world.end_of(self.name) if isinstance(self._child, GuardedChild) else None

    def _explained(self, status: int) -> bool:
        code = os.waitstatus_to_exitcode(status)
        ours = [f for f in self._world.fired() if (f.life, f.pid) == (self.name, self.pid) and self._world.is_deadly(f)]
        return bool(ours) and code in (-signal.SIGKILL, EXIT_STATUS)

    def _unattributed(self, status: int) -> str:
        code = os.waitstatus_to_exitcode(status)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
        hints = {
            -signal.SIGKILL: "Killed from outside: the out-of-memory killer, a `kill -9`, or the test itself "
            "(use life.kill() for that).",
            -signal.SIGSEGV: "A crash of the interpreter or of an extension; its stack is in stderr.",
            OWN_FAILURE: "The plugin ended it; stderr says why.",
        }
        hint = hints.get(code, "Something called os._exit, or ended the process in another way.")
        stderr = own_part(self.stderr)[-2000:]
        return (
            f"life {self.name!r} ended {how} without a result, and no fault of this test did that. {hint}\n"
            f"passed: {', '.join(self.hits[-5:]) or 'no point'}" + (f"\nstderr: {stderr}" if stderr else "")
        )

    def _time_out(self) -> None:
        self.stacks = self.dump_stacks()
        self._world.waited_in_vain(self.name)
        where = f", paused at {', '.join(self.hits[-1:])}," if self._state == "paused" else ""
        self._end("timed out")
        self.timeout_text = (
            f"life {self.name!r} was still running after {self._limit:g} s (crashwindow_life_timeout){where} "
            f"and was ended. Its threads were:\n{self.stacks}"
        )

    def dump_stacks(self) -> str:
        """What its threads are doing, as text. A stopped life wrote that before it stopped."""
        if self._over:
            return ""
        before = 0 if self._stopped else _size(self._files.stacks)
        if not self._stopped:
            with contextlib.suppress(ProcessLookupError):
                originals.kill(self.pid, STACKS_SIGNAL)  # to this process alone: others would die of it
            deadline = originals.monotonic() + _STACKS_PATIENCE
            size = before
            while originals.monotonic() < deadline and (size == before or _size(self._files.stacks) != size):
                size = _size(self._files.stacks)
                originals.sleep(0.01)
        stacks = own_part(_text_of(self._files.stacks)[before:])
        return stacks[:6000] or "(no stack: the process is blocked in the kernel, or is no Python)"

    def _close(self, status: int, state: str) -> None:
        self._status, self._state, self._stopped = status, state, False
        self._child.close()
        for fd in (self._wake, self._resume):
            with contextlib.suppress(OSError):
                originals.close(fd)
        self._wake = -1
        if self._end_told_before() is None:
            self._world.tell("ended", self.name, outcome=state, error=self._headline())

    def _headline(self) -> str:
        """Of a life that raised: the exception and the first line of its message."""
        return self._result.headline if self._result is not None else ""

    def _last_line(self) -> str:
        """Of the traceback of a life that raised: the end of the message or of its notes."""
        lines = self._result.traceback.strip().splitlines() if self._result is not None else []
        return lines[-1] if lines else ""

    @property
    def traceback(self) -> str:
        """The traceback of a life that raised, as Python prints it; else empty."""
        self._was_asked = True
        return self._result.traceback if self._result is not None else ""


def _descendants(pid: int) -> list[int]:
    """The processes below one, where the system lists children (Linux)."""
    below = []
    tasks = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):  # the process may end any time, and each of its threads
        for task in originals.listdir(tasks):
            with contextlib.suppress(OSError):
                for child in map(int, originals.read_file(f"{tasks}/{task}/children").split()):
                    below += [child, *_descendants(child)]
    return below


def _state_of(pid: int) -> str | None:
    """What a process is doing, as the letter that the kernel uses: T is stopped. None where nobody says (Linux)."""
    stat = _stat_of(pid)
    return stat[0] if stat else None


def _is_dying(pid: int) -> bool:
    """Whether a process has been killed, or ends, and is only not gone yet, where the system says so (Linux)."""
    with contextlib.suppress(OSError):
        status = originals.read_file(f"/proc/{pid}/status").decode("utf-8", "replace")
        pending = [line.split()[1] for line in status.splitlines() if line.startswith(("SigPnd:", "ShdPnd:"))]
        if any(int(one, 16) >> (signal.SIGKILL - 1) & 1 for one in pending):
            return True
        stat = _stat_of(pid)
        return bool(stat) and (stat[0] in "ZX" or bool(int(stat[6]) & _EXITING))
    return False


def _stat_of(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name; empty if there is none."""
    try:
        return originals.read_file(f"/proc/{pid}/stat").decode("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []


def _loaded(result: Result, name: str) -> Any:
    __tracebackhide__ = True
    assert result.payload is not None
    try:
        return originals.from_pickle(result.payload)
    except Exception as error:
        raise Unpicklable(
            f"the {result.kind} that life {name!r} {result.outcome} can't be rebuilt in the test "
            f"({type(error).__name__}: {error}). "
            + ("Return plain data instead." if result.outcome == "returned" else "Its traceback says what it was.")
        ) from None


def _read_result(path: str) -> Result | None:
    try:
        return Result(**originals.from_pickle(originals.read_file(path)))
    except FileNotFoundError:
        return None


def _text_of(path: str) -> str:
    try:
        return originals.read_file(path).decode("utf-8", "replace")
    except FileNotFoundError:
        return ""


def _size(path: str) -> int:
    try:
        return originals.stat(path).st_size
    except FileNotFoundError:
        return 0
