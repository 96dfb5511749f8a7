"""How an item that uses the plugin runs: set-up once here, its body in a world, tear-down once here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from .errors import UnattributedDeath
from .fixture import CrashWindow
from .report import story, timeline
from .report.evidence import armed_window, of_report, of_world
from .report.kinds import Control, Disk, kind_of
from .report.sweeps import rerun_sweep
from .state import Snapshots, size_of
from .windows import Window
from .worlds import Outcome, Worlds, quiet_report, replay_warnings

if TYPE_CHECKING:
    from .engine import Engine

CRASHWINDOW = pytest.StashKey[CrashWindow]()
"""the fixture's object of an item, from its set-up on"""
TIMEOUT = pytest.StashKey[Any]()
"""what pytest-timeout set its timer to for an item"""


class Protocol:
    """One item from logstart to logfinish. Subclassed where the body runs more than once."""

    def __init__(self, engine: Engine, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        self.engine = engine
        self.item, self.nextitem = item, nextitem
        self.config, self.session, self.hook = item.config, item.session, item.ihook

    def run(self) -> None:
        """Everything that pytest's own protocol does for an item."""
        item = self.item
        self.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        try:
            setup = self.phase("setup")
            self.log(setup)
            if setup.passed and not self.config.getoption("setuponly", False):
                self.call()
            self.log(self.teardown())
        finally:
            release(item)
        self.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def call(self) -> None:
        """The call phase."""
        with self.worlds() as worlds:
            outcome = self.world(worlds, None)
        window = armed_window(outcome.world)  # a test that arms faults by name makes a window, too
        if window is not None:
            outcome.reports[-1].user_properties += properties(window, outcome.verdict)
        self.item.user_properties[:] = outcome.reports[-1].user_properties  # JUnit takes those of tear-down
        if outcome.reports[-1].failed:
            self.tell_story(outcome)
        if self.engine.settings.report and window is not None:
            self._tell_report_files(outcome, window)
        self.echo(outcome.reports[-1])
        for report in outcome.reports:
            self.log(report)

    def _tell_report_files(self, outcome: Outcome, window: Window) -> None:
        last = outcome.reports[-1]
        last.__dict__["crashwindow_alone"] = {
            "test": self.item.nodeid,
            "armed": True,
            "window": str(window),
            "verdict": outcome.verdict,
            "outcome": "xfailed" if last.skipped and hasattr(last, "wasxfail") else last.outcome,
            "reason": getattr(last, "wasxfail", ""),
            "seconds": last.duration,
            "rerun": rerun_sweep(self.item, self.item.nodeid),
            **self.story(outcome),
        }

    def story(self, outcome: Outcome) -> dict[str, Any]:
        """What report files tell of a world."""
        tmp_path = self.item.funcargs.get("tmp_path")  # type: ignore[attr-defined]
        told = of_world(outcome.world, self.effects(), self.config.rootpath, tmp_path)
        hint = outcome.hint.as_data() if outcome.hint else None
        return {**of_report(outcome.reports[-1]), "hint": hint, **told}

    def tell_story(self, outcome: Outcome, control: Control | None = None, passes_without_last: bool = False) -> None:
        """Put the story of a failed world first among the sections of its report."""
        told = timeline.entries(outcome.world, self.effects())
        outcome.hint = kind_of(told, control, self.disk(), passes_without_last)
        text = story.of(self.item, outcome)
        if text:
            outcome.reports[-1].sections.insert(0, ("crashwindow", text))

    def disk(self) -> Disk:
        """The files as set-up and as the last world left them."""
        kept = Snapshots(self.item.stash[CRASHWINDOW].directory / "snapshots")
        return Disk(before=lambda path: kept.size(Path(path)), now=lambda path: size_of(Path(path)))

    def effects(self) -> list[tuple[str, str, int]]:
        """The effects of the last world."""
        return self.item.stash[CRASHWINDOW].effects.all()

    # -- worlds ------------------------------------------------------------------------------

    @contextlib.contextmanager
    def worlds(self) -> Iterator[Worlds]:
        """Worlds of this item; pytest-timeout's timer rests meanwhile, its limit is applied to each world."""
        crashwindow = self.item.stash[CRASHWINDOW]
        with self._timer_rests() as limit:
            worlds = Worlds(self.engine, self.item, crashwindow, limit)
            try:
                worlds.open()
                yield worlds
            finally:
                worlds.close()

    @contextlib.contextmanager
    def _timer_rests(self) -> Iterator[float | None]:
        settings = self.item.stash.get(TIMEOUT, None)
        if settings is None:
            yield None
            return
        hook = self.config.hook
        hook.pytest_timeout_cancel_timer(item=self.item)
        try:
            yield settings.timeout
        finally:
            hook.pytest_timeout_set_timer(item=self.item, settings=settings)

    def world(self, worlds: Worlds, window: Window | None) -> Outcome:
        """One world; what its body asked of the session happens here."""
        outcome = worlds.run(window)
        replay_warnings(outcome.warned)
        stop, fail = outcome.stop
        self.session.shouldstop = self.session.shouldstop or stop
        self.session.shouldfail = self.session.shouldfail or fail
        if outcome.exit is not None:
            raise pytest.exit.Exception(*outcome.exit)
        return outcome

    # -- phases and reports ------------------------------------------------------------------

    def phase(self, when: Literal["setup", "teardown"], **more: Any) -> pytest.TestReport:
        """Run set-up or tear-down in this process, and make its report."""
        hook = getattr(self.hook, f"pytest_runtest_{when}")
        reraise: tuple[type[BaseException], ...] = (pytest.exit.Exception,)
        if not self.config.getoption("usepdb", False):
            reraise += (KeyboardInterrupt,)
        call = pytest.CallInfo.from_call(lambda: hook(item=self.item, **more), when=when, reraise=reraise)
        report: pytest.TestReport = self.hook.pytest_runtest_makereport(item=self.item, call=call)
        if call.excinfo is not None and call.excinfo.errisinstance(UnattributedDeath):
            self.item.stash[CRASHWINDOW].death_was_told = True
        if call.excinfo is not None and not report.skipped and not hasattr(report, "wasxfail"):
            self.hook.pytest_exception_interact(node=self.item, call=call, report=report)
        return report

    def echo(self, report: pytest.TestReport) -> None:
        """Have hooks of this process see how the call phase ended, as if it had been here.

        Many a conftest keeps a test's reports on the item for its fixtures to look at, and so does pytest
        for `tmp_path_retention_policy`.
        """

        def end() -> None:
            if report.skipped and not hasattr(report, "wasxfail"):
                pytest.skip(report.longreprtext)
            if not report.passed:
                pytest.fail(report.longreprtext, pytrace=False)

        call = pytest.CallInfo.from_call(end, when="call")
        self.hook.pytest_runtest_makereport(item=self.item, call=call)

    def teardown(self) -> pytest.TestReport:
        """Tear-down, down to what the next item still needs."""
        stopping = self.session.shouldfail or self.session.shouldstop
        return self.phase("teardown", nextitem=None if stopping else self.nextitem)

    def quiet(self, when: Literal["setup", "call", "teardown"]) -> pytest.TestReport:
        """A report of a phase in which nothing happened."""
        return quiet_report(self.item, when)

    def log(self, report: pytest.TestReport) -> None:
        """Publish a report."""
        self.hook.pytest_runtest_logreport(report=report)


def properties(window: Window, verdict: str) -> list[tuple[str, object]]:
    """What JUnit tells of a window."""
    return [
        ("crashwindow_window", str(window)),
        ("crashwindow_fault", window.fault),
        ("crashwindow_verdict", verdict),
    ]


def release(item: pytest.Item) -> None:
    """Let go of fixtures as pytest's own protocol does, so that they are freed before the next item."""
    if hasattr(item, "_request"):
        item._request = False
        item.funcargs = None  # type: ignore[attr-defined]
