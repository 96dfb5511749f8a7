"""Inside a life: what happens when running code passes a point.

The tracker records the hit, finds out whether a fault is armed for it, and lets the fault act. Audit
events, attached calls and probes all end in `Tracker.passed`. It is made before lives are forked, and
stays deaf until a life begins.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import get_ident
from types import FrameType
from typing import Any

from . import originals
from .audit_events import CPYTHON_EVENTS
from .errors import BadOption
from .faults.base import Action, Asked, Wait
from .ledger import Ledger
from .originals import monotonic_ns
from .points import Armed, Selection, matches, split_end
from .record import ARMED, POINT, Fired, FiredRecords, Trace, file_of, line, summary
from .windows import escape

EXIT_STATUS = 137  # what a shell shows for SIGKILL; used where death is by `os._exit`
OWN_FAILURE = 70  # the plugin's own fault, and never a pass
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
TRAMPOLINE = "<crashwindow>"  # the file name of code that stands in for an attached function
_MAX_FRAMES = 12


@dataclass
class Orders:
    """All that a life has to know of its world."""

    world: Path
    """the world's control directory, with `trace` and `fired/` in it"""
    armed: list[Armed] = field(default_factory=list)
    selection: Selection = field(default_factory=Selection)
    calls: frozenset[str] = frozenset()
    """the attached calls, at which alone a fault may act on the call itself"""
    death: str = "kill"
    """`"kill"` or `"exit"`"""
    state: list[Path] = field(default_factory=list)
    """the state directories; `files` counts only what lies inside them"""


@dataclass
class Lifeline:
    """How a running life and the process that started it tell each other of stops."""

    name: str
    """the life's name"""
    pid: int
    wake: int
    """descriptor: the life writes a byte before it stops"""
    resume: int
    """descriptor: a held thread reads a byte to go on"""
    stacks: str
    """file that gets the stacks of all threads before a stop"""

    def __post_init__(self) -> None:
        self._pipes = {fd: file_of(fd) for fd in (self.wake, self.resume)}

    def say(self, note: bytes) -> None:
        """Tell the starter, as far as the code under test has left a way open. Raises OSError."""
        self._check(self.wake)
        originals.write(self.wake, note)

    def listen(self) -> None:
        """Wait for the starter. Raises OSError if the code under test closed the way."""
        self._check(self.resume)
        originals.read(self.resume, 1)

    def _check(self, fd: int) -> None:
        """Programs that close all descriptors open others, which get the old numbers."""
        if file_of(fd) != self._pipes[fd]:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))


class Tracker:
    """Points as one process sees them."""

    def __init__(self) -> None:
        self.active = False
        """whether this process belongs to a life; everything is passed through until then"""
        self._busy: set[int] = set()  # threads inside the plugin: what it does itself is no hit
        self._who: dict[int, str] = {}
        self._listeners: dict[str, Callable[[tuple[Any, ...]], None]] = {}
        self._probed: set[str] = set()
        self._holds: list[tuple[tuple[str, ...], threading.Event]] = []
        self.unwanted = set[str]()
        """points seen that are not recorded; who has much to do to tell of one may look here first"""
        self._names: dict[str, str] = {}
        """the others, as they stand in the trace"""
        self._unarmed: dict[str, str] = {}
        """of these the ones at which no fault can fire"""
        self.complaints: list[str] = []
        """what `complain` was told before any life; the process that forks the lives reads it"""
        self._told: Ledger
        self._orders: Orders
        self._lifeline: Lifeline
        self._trace: Trace
        self._fired: FiredRecords

    # -- before lives ------------------------------------------------------------------------

    def listen(self, event: str, listener: Callable[[tuple[Any, ...]], None]) -> None:
        """Have a probe told of an audit event of CPython, in lives only; it isn't a point by that."""
        self._listeners[event] = listener

    def covers(self, call: str) -> None:
        """A probe has points of this name, so that the audit event of the same name is none."""
        self._probed.add(call)

    def complain(self, text: str) -> None:
        """Have the world fail: points couldn't be put in place when the code under test imported a module.

        That code hears nothing of it: it would take it for an error of the import, and perhaps swallow it.
        """
        if not self.active:
            self.complaints.append(text)
            return
        with self.unseen():
            self._told.append({"complaint": text})

    def rebound(self, call: str, names: int) -> None:
        """Write down under how many names a call was found that had to be replaced under each of them."""
        if self.active:
            with self.unseen():
                self._told.append({"rebound": call, "names": names})

    @property
    def state(self) -> list[Path]:
        """The state directories of the running life."""
        return self._orders.state

    # -- a life begins -----------------------------------------------------------------------

    def begin(self, orders: Orders, lifeline: Lifeline) -> None:
        """Called in a new life, before any of the user's code."""
        self._orders, self._lifeline = orders, lifeline
        world = os.fspath(orders.world)
        self._trace, self._fired = Trace(f"{world}/trace"), FiredRecords(f"{world}/fired")
        self._told = Ledger(f"{world}/told")
        self._forget_other_processes()
        os.register_at_fork(after_in_child=self._in_forked_child)
        sys.addaudithook(self._hook())
        self.active = True

    def _in_forked_child(self) -> None:
        if self.active:
            self._trace.reopen()
            self._forget_other_processes()

    def _forget_other_processes(self) -> None:
        self._busy.clear()
        self._who.clear()
        self._names.clear()
        self.unwanted.clear()
        self._unarmed.clear()
        self._holds.clear()

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        listeners, passed, unwanted, unarmed = self._listeners, self.passed, self.unwanted, self._unarmed
        heard = listeners.keys() | self._events_asked_for()

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event in CPYTHON_EVENTS and event not in heard:
                return
            if event in unarmed:
                passed(event, arguments)
                return
            if event in listeners:
                listeners[event](arguments)
            if event not in unwanted:
                passed(event, arguments, event in CPYTHON_EVENTS)

        return hook

    def _events_asked_for(self) -> set[str]:
        selection = self._orders.selection
        armed = {name for one in self._orders.armed for name in (one.pattern, *one.fault.also_at())}
        spelled = {*selection.patterns, *selection.also, *armed}
        return {event for event in CPYTHON_EVENTS & spelled if self._wanted(event, True)}

    def _wanted(self, point: str, of_cpython: bool) -> bool:
        if of_cpython and point in self._probed:
            return False
        if any(self._spelled(armed, point, of_cpython) for armed in self._orders.armed):
            return True
        selection = self._orders.selection
        return selection.wants_event_of_cpython(point) if of_cpython else selection.wants(point)

    def _spelled(self, armed: Armed, point: str, of_cpython: bool) -> bool:
        seldom = of_cpython or split_end(point)[0] in self._orders.selection.only_by_name
        held_at = armed.fault.also_at()
        if seldom:
            return any(name in (point, split_end(point)[0]) for name in (armed.pattern, *held_at))
        return armed.waits_at(point) or any(matches(pattern, point) for pattern in held_at)

    # -- a point is passed -------------------------------------------------------------------

    def passed(
        self,
        point: str,
        arguments: Sequence[object] = (),
        of_cpython: bool = False,
        later: list[float] | None = None,
    ) -> Action | None:
        """Record a hit and let an armed fault act: it may not return, raise, or ask for an action.

        To `later` the seconds are added that the caller has to await, instead of having its thread sleep here.
        """
        __tracebackhide__ = True
        thread = get_ident()
        if not self.active or thread in self._busy or point in self.unwanted:
            return None
        if point in self._unarmed and thread in self._who and not self._holds:
            # Nearly every hit, so it's written out; it runs no code of others, so nothing need be unseen.
            text = f"\n{monotonic_ns()}\t{self._who[thread]}\t{self._unarmed[point]}\t\t{summary(arguments)}\t"
            try:
                originals.write(self._trace.descriptor, text.encode("utf-8", "backslashreplace"))
            except OSError:
                self._trace.append(text)
            return None
        self._busy.add(thread)
        try:
            name = self._names[point] if point in self._names else self._named(point, of_cpython)
            if name is None:
                return None
            if self._holds:
                self._wait_if_held(point)
            me = self._me(thread)
            armed = [a for a in self._orders.armed if self._may_fire(a, point)]
            if armed:
                return self._passed_armed(point, name, arguments, armed, later)
            self._unarmed[point] = name
            self._trace.append(line(monotonic_ns(), me, name, "", summary(arguments)))
            return None
        finally:
            self._busy.discard(thread)

    @contextlib.contextmanager
    def unseen(self) -> Any:
        """What this thread does meanwhile is the plugin's own doing and no hit."""
        thread = get_ident()
        nested = thread in self._busy
        self._busy.add(thread)
        try:
            yield
        finally:
            if not nested:
                self._busy.discard(thread)

    def _named(self, point: str, of_cpython: bool) -> str | None:
        if not self._wanted(point, of_cpython):
            self.unwanted.add(point)
            return None
        self._names[point] = escape(point)
        return self._names[point]

    def _me(self, thread: int) -> str:
        if thread not in self._who:
            self._who[thread] = f"{escape(self._lifeline.name)}\t{originals.getpid()}\t{thread}"
        return self._who[thread]

    def _passed_armed(
        self, point: str, name: str, arguments: Sequence[object], armed: list[Armed], later: list[float] | None
    ) -> Action | None:
        __tracebackhide__ = True
        waiting = [a for a in armed if self._waits(a, arguments)]
        shown, at, thread = summary(arguments), monotonic_ns(), get_ident()
        indexes = [str(a.index) for a in waiting]
        ordinal, *counts = self._trace.append_counted(
            line(at, self._me(thread), name, ",".join(indexes), shown),
            [(POINT, name), *((ARMED, index) for index in indexes)],
        )
        action = None
        for one, count in zip(waiting, counts):  # noqa: B905  # `strict` came with Python 3.10
            if not _is_due(one, ordinal, count):
                continue
            fired = Fired(
                index=one.index,
                fault=one.fault.name,
                point=point,
                ordinal=ordinal,
                arguments=shown,
                life=self._lifeline.name,
                pid=originals.getpid(),
                thread=thread,
                at=monotonic_ns(),
                where=_user_frames(sys._getframe(2)),
            )
            self._prepare(one)
            if self._fired.claim(_record_name(one, count), fired):
                action = self._granted(one.fault.act(fired, self), later) or action
        return action

    def _granted(self, asked: Asked | None, later: list[float] | None) -> Action | None:
        """Wait if that is what a fault asks for; anything else is the caller's to do."""
        if not isinstance(asked, Wait):
            return asked
        if later is None:
            originals.sleep(asked.seconds)
        else:
            later.append(asked.seconds)
        return None

    def _prepare(self, armed: Armed) -> None:
        """A fault that can't act must not pass for one that fired, whatever the user's code catches."""
        try:
            armed.fault.prepare()
        except BadOption as error:
            self._fail(f"{armed.fault.name} at {armed.pattern}: {error}")

    def _fail(self, text: str) -> None:
        """End the process in a way that is never a pass."""
        with contextlib.suppress(OSError):
            originals.write(2, f"crashwindow: {text}\n".encode())
        originals.exit_now(OWN_FAILURE)

    def _may_fire(self, armed: Armed, point: str) -> bool:
        if armed.fault.only_calls and split_end(point)[0] not in self._orders.calls:
            return False
        return armed.waits_at(point)

    def _waits(self, armed: Armed, arguments: Sequence[object]) -> bool:
        if armed.life not in (None, self._lifeline.name):
            return False
        if armed.after is not None and not self._fired.has_fired(armed.after):
            return False
        return armed.accepts(arguments)

    # -- what faults may use (faults.base.Surroundings) --------------------------------------

    def die(self) -> None:
        if self._orders.death == "exit":
            originals.leave(EXIT_STATUS)
        originals.kill(originals.getpid(), signal.SIGKILL)
        while True:  # another thread may take the signal; this one must not run on
            signal.pause()

    def stop_life(self) -> None:
        self._note_stop(b"S")
        originals.killpg(originals.getpgrp(), signal.SIGSTOP)
        # Another thread may take the signal, and this one run on for a moment.
        with contextlib.suppress(OSError):
            self._lifeline.listen()

    def hold_thread(self, also_at: tuple[str, ...]) -> None:
        hold = (also_at, threading.Event())
        self._holds.append(hold)
        self._note_stop(b"H")
        try:
            self._lifeline.listen()
        except OSError:
            self._fail("a thread can't be held where the code under test closed all descriptors")
        self._holds.remove(hold)
        hold[1].set()

    def _wait_if_held(self, point: str) -> None:
        for patterns, released in list(self._holds):
            if any(matches(pattern, point) for pattern in patterns):
                released.wait()

    def _note_stop(self, how: bytes) -> None:
        with contextlib.suppress(OSError), originals.open_file(self._lifeline.stacks, "w") as file:
            faulthandler.dump_traceback(file, all_threads=True)
        with contextlib.suppress(OSError):
            self._lifeline.say(how)


def _is_due(armed: Armed, ordinal: int, count: int) -> bool:
    if armed.ordinal is not None:
        return ordinal == armed.ordinal
    return armed.nth is None or count == armed.nth


def _record_name(armed: Armed, count: int) -> str:
    """One name for a fault that fires once, so that only one process can claim it."""
    return str(armed.index) if armed.nth is not None else f"{armed.index}.{count}"


def _user_frames(frame: FrameType | None) -> tuple[tuple[str, int, str], ...]:
    frames: list[tuple[str, int, str]] = []
    while frame is not None and len(frames) < _MAX_FRAMES:
        code = frame.f_code
        if not (code.co_filename.startswith(PACKAGE) or code.co_filename == TRAMPOLINE):
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(frames)
