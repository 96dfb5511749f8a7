"""Whether a call is there whose module nobody has imported yet.

To import it is the lives' own business: it may print, open files, take its time. So its source is read, and only
where that doesn't define the call the module is imported, in a fork that is thrown away. Never used in lives.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import select
import signal
import sys
from collections.abc import Iterable
from typing import NoReturn

from .calls import resolve, split
from .errors import NotAttachable
from .guard import die_with_parent, fork_quietly
from .installing import is_defined, no_module

PATIENCE = 30.0  # seconds for an import; of one that takes longer nothing is known


def check_unimported(calls: Iterable[str]) -> None:
    """Raise NotAttachable for the first call that its module, once imported, turns out not to have.

    A module that can't be imported here and now says nothing: lives may import it later, or never.
    """
    __tracebackhide__ = True
    for call in calls:
        if split(call)[0] in sys.modules or is_defined(call):
            continue
        complaint = _rehearsed(call)
        if complaint:
            raise NotAttachable(complaint)


def _rehearsed(call: str) -> str:
    answers, answer = os.pipe()
    pid = fork_quietly()
    if pid == 0:
        _rehearse(call, answer)
    os.close(answer)
    try:
        return _read(answers)
    finally:
        os.close(answers)
        for kill in (os.killpg, os.kill):  # one so young has no group of its own yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # a wait() of somebody else took it
            os.waitpid(pid, 0)


def _read(answers: int) -> str:
    ready = select.poll()
    ready.register(answers, select.POLLIN)
    return os.read(answers, 65536).decode() if ready.poll(PATIENCE * 1000) else ""


# -- in the fork ---------------------------------------------------------------------------------


def _rehearse(call: str, answer: int) -> NoReturn:
    try:
        os.setsid()
        die_with_parent()
        _be_silent()
        os.write(answer, _complaint(call).encode())
    finally:
        os._exit(0)


def _be_silent() -> None:
    """Neither output nor signals of this process are anybody's business."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.stdin = sys.stdout = sys.stderr = open(null, "r+", encoding="utf-8")  # noqa: SIM115
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _complaint(call: str) -> str:
    module = split(call)[0]
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        parent = sys.modules.get(module.rpartition(".")[0])
        return str(no_module(call, module, getattr(parent, "__path__", None))) if error.name == module else ""
    except BaseException:
        return ""
    try:
        resolve(call)
    except NotAttachable as error:
        return str(error)
    return ""
