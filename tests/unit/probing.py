"""A life reduced to a fork: what the tests of probes need of the engine, with the real tracker."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_crashwindow.faults import Crash, Error, Fault, LostAck
from pytest_crashwindow.installing import install
from pytest_crashwindow.points import Armed, Selection
from pytest_crashwindow.probes.base import Probe
from pytest_crashwindow.record import Hit, read_trace
from pytest_crashwindow.tracker import Lifeline, Orders, Tracker


class Boom(Exception):
    """Raised by armed faults; no code under test raises or catches it."""


@dataclass
class Ended:
    """How a life ended."""

    hits: list[Hit]
    status: int
    """0, the negative number of a signal, or the exit status"""
    value: Any = None
    """what the body returned"""
    raised: str | None = None
    """the name of the type of the exception that the body raised"""
    report: str = ""
    """its traceback"""
    unraisable: list[str] = field(default_factory=list)
    """exceptions that nobody could catch, ResourceWarnings included"""

    @property
    def points(self) -> list[str]:
        return [hit.point for hit in self.hits]

    @property
    def after_go(self) -> list[str]:
        return self.points[self.points.index("test.go") + 1 :]

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(hit.point, hit.arguments) for hit in self.hits]

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL


@dataclass
class Lives:
    """Starts lives with one probe, one after the other."""

    directory: Path
    probe: Callable[[], Probe]
    state: list[Path] = field(default_factory=list)
    _count: int = 0

    def run(
        self, body: Callable[[Tracker], Any], *armed: Armed, patterns: Sequence[str] = (), begun: bool = True
    ) -> Ended:
        """Run `body` in a fork that has the probe; without `begun` as in a process that is no life."""
        self._count += 1
        world = self.directory / f"world-{self._count}"
        (world / "fired").mkdir(parents=True)
        pid = os.fork()
        if pid == 0:
            try:
                self._live(world, body, armed, patterns, begun)
            finally:
                os._exit(99)
        _, status = os.waitpid(pid, 0)
        ended = Ended(read_trace(world / "trace"), os.waitstatus_to_exitcode(status))
        if (world / "result").exists():
            ended.value, ended.raised, ended.report, ended.unraisable = pickle.loads((world / "result").read_bytes())
        assert ended.status != 99, ended.report
        return ended

    def _live(
        self,
        world: Path,
        body: Callable[[Tracker], Any],
        armed: Sequence[Armed],
        patterns: Sequence[str],
        begun: bool,
    ) -> None:
        result: tuple[Any, str | None, str] = None, "install failed", ""
        unraisable: list[str] = []
        sys.unraisablehook = lambda args: unraisable.append(f"{args.exc_type.__name__}: {args.exc_value}")
        status = 99
        tracker = Tracker()
        try:
            probe = self.probe()
            install(tracker, [probe], [])
            selection = Selection(tuple(patterns), frozenset(probe.only_by_name))
            if begun:
                orders = Orders(world, list(armed), selection, state=self.state)
                tracker.begin(orders, Lifeline("life", os.getpid(), -1, -1, world / "stacks"))
            status = 0
            result = body(tracker), None, ""
        except BaseException as error:
            result = None, type(error).__name__, traceback.format_exc()
        tracker.active = False
        gc.collect()
        sys.stdout.flush()
        (world / "result").write_bytes(pickle.dumps((*result, unraisable)))
        os._exit(status)


def error_at(point: str, nth: int = 1, error: Any = Boom, match: str | None = None) -> Armed:
    return Armed(0, point, Error(error), nth=nth, match=match)


def lost_ack_at(point: str, nth: int = 1, error: Any = Boom) -> Armed:
    return Armed(0, point, LostAck(error), nth=nth)


def crash_at(point: str, nth: int = 1) -> Armed:
    return Armed(0, point, Crash(), nth=nth)


__all__ = ["Boom", "Ended", "Fault", "Lives", "crash_at", "error_at", "lost_ack_at"]
