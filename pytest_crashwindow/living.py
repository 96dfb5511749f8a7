"""What a forked process does to become a life: a process of its own that happens to share our memory.

It gets its own session, its own output files, its own signal handlers and exit handlers; it runs the
target, ends as a program ends, hands over the result and leaves. It never returns into pytest.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import inspect
import io
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from . import originals
from .record import out_of_the_way
from .tracker import OWN_FAILURE, PACKAGE, TRAMPOLINE, Lifeline, Orders, Tracker

STACKS_SIGNAL = getattr(signal, "SIGRTMAX", signal.SIGUSR2 + 3) - 3
"""asks a life for the stacks of its threads; one that programs hardly ever use"""


@dataclass
class Result:
    """What a life hands over at its end."""

    outcome: str
    """`"returned"` or `"raised"`"""
    payload: bytes | None
    """the pickled value or exception"""
    kind: str
    """the type's qualified name"""
    problem: str = ""
    """why there is no payload"""
    traceback: str = ""
    headline: str = ""
    """of an exception: its type and the first line of its message"""


@dataclass
class LifeFiles:
    """Where a life writes, and where its starter reads."""

    directory: str

    def __post_init__(self) -> None:
        self.stdout = f"{self.directory}/stdout"
        self.stderr = f"{self.directory}/stderr"
        self.result = f"{self.directory}/result"
        self.stacks = f"{self.directory}/stacks"


def live(
    target: Callable[[], Any],
    files: LifeFiles,
    begin: Callable[[], tuple[Tracker, Orders]],
    name: str,
    wake: int,
    resume: int,
    seed: str,
) -> NoReturn:
    """Be a life. Whatever the target raises, this ends the process."""
    status, pid = OWN_FAILURE, originals.getpid()
    try:
        os.setsid()
        _own_output(files)
        _own_signals(files)
        _leave_pytest(seed)
        tracker, orders = begin()
        tracker.begin(orders, Lifeline(name, pid, out_of_the_way(wake), out_of_the_way(resume), files.stacks))
        result = _run(target, tracker)
        _end_as_a_program_does()
        tracker.active = False
        if originals.getpid() == pid:  # not a child that the target forked and let run on
            _hand_over(result, files)
        status = 0
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        originals.leave(status)


def _own_output(files: LifeFiles) -> None:
    """Files of its own instead of pytest's capture; lines arrive as they are printed."""
    null = originals.open_fd(os.devnull, os.O_RDONLY)
    originals.dup2(null, 0)
    originals.close(null)
    for number, path in ((1, files.stdout), (2, files.stderr)):
        fd = originals.open_fd(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        originals.dup2(fd, number)
        originals.close(fd)
    sys.stdin = sys.__stdin__ = originals.open_file(0, encoding="utf-8", closefd=False)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _text(1)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _text(2)  # type: ignore[misc]


def _text(fd: int) -> io.TextIOWrapper:
    return originals.open_file(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _own_signals(files: LifeFiles) -> None:
    signal.set_wakeup_fd(-1)
    originals.set_signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGHUP, signal.SIGCHLD):
        originals.set_signal(number, signal.SIG_DFL)
    faulthandler.enable(file=2)
    fd = originals.open_fd(files.stacks, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    faulthandler.register(STACKS_SIGNAL, file=fd, all_threads=True, chain=False)


def _leave_pytest(seed: str) -> None:
    """Undo what pytest set up for itself, and what a fork shares with its siblings by accident."""
    gc.freeze()  # a collection then looks at this life's own objects only
    atexit._clear()
    executors = sys.modules.get("concurrent.futures.thread")
    if executors is not None:  # their threads weren't forked; one of them may have become this main thread
        executors._threads_queues.clear()
    threading.excepthook = threading.__excepthook__
    sys.unraisablehook = sys.__unraisablehook__
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if type(handler).__module__.startswith("_pytest."):
            root.removeHandler(handler)
    # Lives differ from each other, and are alike in every world.
    originals.seed(seed)


def _run(target: Callable[[], Any], tracker: Tracker) -> Result:
    try:
        value = target()
        if inspect.iscoroutine(value):
            with tracker.unseen():
                import asyncio  # heavy, and needed by few: every fork of a process that has it takes longer
            value = asyncio.run(value)
    except BaseException as error:
        told = _told(error)
        return replace(_packed("raised", error), traceback="".join(told.format()), headline=_headline(told))
    return _packed("returned", value)


def _packed(outcome: str, value: object) -> Result:
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    try:
        return Result(outcome, originals.to_pickle(value), kind)
    except Exception as error:
        return Result(outcome, None, kind, f"{type(error).__name__}: {error}")


def _headline(told: traceback.TracebackException) -> str:
    """Libraries append a statement, a link to their pages, notes; what it's about is in the first line."""
    lines = "".join(told.format_exception_only()).splitlines()
    return next((line for line in lines if line and not line[0].isspace()), "")  # before it a SyntaxError has code


def _told(error: BaseException) -> traceback.TracebackException:
    """As Python prints it, without the frames of the plugin."""
    told = traceback.TracebackException.from_exception(error)
    one: traceback.TracebackException | None = told
    while one is not None:
        frames = [f for f in one.stack if not f.filename.startswith((PACKAGE, TRAMPOLINE))]
        one.stack = traceback.StackSummary.from_list(frames)
        one = one.__cause__ or one.__context__
    return told


def _end_as_a_program_does() -> None:
    """Threads joined, exit handlers run, buffers flushed: an `os._exit` alone would do none of it."""
    for step in (threading._shutdown, atexit._run_exitfuncs, _flush_files):  # type: ignore[attr-defined]
        try:
            step()
        except BaseException:
            traceback.print_exc()


def _flush_files() -> None:
    """At its end a program flushes the files it left open. Those from before the fork are not its own."""
    for thing in gc.get_objects():
        if isinstance(thing, io.TextIOWrapper | io.BufferedWriter | io.BufferedRandom):
            with contextlib.suppress(Exception):
                thing.flush()


def _hand_over(result: Result, files: LifeFiles) -> None:
    """In one piece: a result cut short by a death is none."""
    unfinished, left = f"{files.result}.part", originals.to_pickle(result.__dict__)
    fd = originals.open_fd(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    while left:  # a single write takes 2 GiB at most
        left = left[originals.write(fd, left) :]
    originals.close(fd)
    originals.rename(unfinished, files.result)
