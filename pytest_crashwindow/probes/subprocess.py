"""`subprocess`: a child process is about to start, and it has started."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .base import Probe

if TYPE_CHECKING:
    from subprocess import Popen

    from ..installing import Site


class Subprocess(Probe):
    """`subprocess.Popen`, so `run`, `check_output` and asyncio's subprocesses; not `os.system`.

    After a lost answer the child runs on, its pipes closed, and nobody waits for it.
    """

    name = "subprocess"
    calls = ("subprocess.Popen",)

    def install(self, site: Site) -> None:
        tracker = site.tracker

        def init(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            __tracebackhide__ = True
            command = (_as_text(args[1]),)
            tracker.passed("subprocess.Popen:enter", command)
            original(*args, **kwargs)
            try:
                tracker.passed("subprocess.Popen:exit", command)
            except BaseException:
                _abandon(args[0])
                raise

        site.when_imported("subprocess", lambda module: site.attach(module.Popen.__init__, init))


def _as_text(command: Any) -> str:
    if isinstance(command, (str, bytes, os.PathLike)):
        return os.fsdecode(command)
    if isinstance(command, Iterable):
        with contextlib.suppress(TypeError):
            return shlex.join(os.fsdecode(part) for part in command)
    return repr(command)


def _abandon(process: Popen[Any]) -> None:
    """The caller never gets to see it: let it be as if it had been dropped, but without a warning."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    unreaped = getattr(sys.modules["subprocess"], "_active", None)  # it reaps them by and by
    if unreaped is not None and process.returncode is None:
        unreaped.append(process)
