"""The sweep inside pytest: set-up, two controls, one world for each window, and the verdict at the end.

Each window is reported as a test of its own, under the sweep's node id with the window's id in brackets.
The sweep's own item is reported last.
"""

from __future__ import annotations

import contextlib
import traceback
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from . import originals
from .choosing import DESELECTED, chooses_windows, in_order, is_chosen, pin_of, whole_id, window_id
from .known import near_names
from .points import is_glob, matches
from .protocol import CRASHWINDOW, Protocol, properties, release
from .record import Hit
from .report import story, timeline
from .report import sweeps as wording
from .report.evidence import of_report
from .report.kinds import Control
from .sharing import Judgement, Record, Shared, Sharing
from .sweep import SweepPlan, difference, order_differs, sampled
from .windows import Window
from .worlds import Outcome, Worlds

if TYPE_CHECKING:
    from .engine import Engine


@dataclass
class Progress:
    """What a sweep knows of itself."""

    points: list[str] = field(default_factory=list)
    """the points of the control, in the order first passed"""
    control: list[dict[str, Any]] = field(default_factory=list)
    """its story, for report files"""
    happened: Control | None = None
    """what happened in the control"""
    passed: set[str] = field(default_factory=set)
    """the windows that this process saw pass; those behind one are run by who ran that one"""
    known: int = 0
    """windows of the control"""
    chosen: list[str] = field(default_factory=list)
    """those of them that are to be run, in order"""
    notes: list[str] = field(default_factory=list)
    rebound: dict[str, int] = field(default_factory=dict)
    """attached calls that were replaced under each of their names, and how many those are"""
    stopped: str = ""
    """why not everything was explored"""
    broken_off: bool = False
    """whether the run was stopped in the middle of the sweep"""
    listed: list[str] = field(default_factory=list)
    """the windows, where they are only to be listed"""


class SweepProtocol(Protocol):
    """A sweep, or one shard of it, or one window that was asked for by its id."""

    def __init__(self, engine: Engine, item: pytest.Item, nextitem: pytest.Item | None, sharing: Sharing) -> None:
        super().__init__(engine, item, nextitem)
        self._sharing = sharing
        self._pin = pin_of(item)
        self._id = whole_id(item)
        self._progress = Progress()
        self._setup: pytest.TestReport

    @property
    def _plan(self) -> SweepPlan:
        plan = self.item.stash[CRASHWINDOW].plan.sweep
        assert plan is not None
        return plan

    @property
    def _calls(self) -> frozenset[str]:
        return frozenset(self.item.stash[CRASHWINDOW].plan.calls)

    # -- one window alone --------------------------------------------------------------------

    def call(self) -> None:
        """The call phase of an item that is a window."""
        window = self._pin.window
        assert window is not None
        with self.worlds() as worlds:
            outcome = self._window(worlds, window)
        self.echo(outcome.reports[-1])
        if self.engine.settings.report:
            outcome.reports[-1].__dict__["crashwindow_alone"] = self._record(window, outcome)
        for report in outcome.reports:
            self.log(report)

    # -- the sweep ---------------------------------------------------------------------------

    def run(self) -> None:
        """Everything between logstart and logfinish, of the windows and of the sweep itself."""
        if self._pin.window is not None:
            if self._controls_only:
                self.item.add_marker(pytest.mark.skip(reason=f"{self._controls_only}: no window is run"))
            super().run()
            return
        if isinstance(self._sharing, Shared) and self._pin.shard and self._sharing.finished():
            self._only_tear_down()
            return
        try:
            self._setup = self.phase("setup")
            verdict: list[pytest.TestReport] = []
            if self._setup.passed and not self.config.getoption("setuponly", False):
                with self.worlds() as worlds:
                    verdict = self._sweep_or_error(worlds)
            if self._setup.failed and not self._pin.shard:
                self._setup.__dict__["crashwindow_unswept"] = self._summary({}, "error", self._setup)
            if verdict:
                self.echo(verdict[-1])
            teardown = self.teardown()
        finally:
            release(self.item)
        self._report_itself([self._setup, *verdict, teardown])

    def _sweep_or_error(self, worlds: Worlds) -> list[pytest.TestReport]:
        """An error in somebody's hook is this sweep's, and the run goes on."""
        began = originals.monotonic()
        try:
            return self._sweep(worlds)
        except pytest.exit.Exception:
            raise
        except Exception as error:
            return self._failed("".join(traceback.format_exception(error)), began, "error")

    def _sweep(self, worlds: Worlds) -> list[pytest.TestReport]:
        """Run what is to be run; the reports of the sweep's own call phase."""
        began = originals.monotonic()
        whole = self._plan.max_windows is not None or chooses_windows(self.config)
        if self._pin.shard and self._plan.depth > 1 and whole:
            return []  # a limit or `-k` is for the whole sweep, behind windows too: one worker keeps it
        only = self.engine.only_window
        if only is not None:
            self._progress.known = 1
            self._progress.stopped = "crashwindow_window: no other was looked for"
            self._run_all(worlds, [only])
            return self._verdict(began)
        control = self.world(worlds, None)
        if control.verdict != "passed" or any(not report.passed for report in control.reports):
            return self._control_failed(control)
        hits = control.world.hits_in_body()
        self._progress.rebound = control.world.rebound()
        idle = self._plan.idle_globs({hit.point for hit in hits})
        self._progress.happened = Control.of(timeline.entries(control.world, self.effects()), self.disk())
        if self.engine.settings.report:
            self._progress.control = self.story(control)["timeline"]
        judgement = self._sharing.judgement()
        if judgement is None:  # every worker that comes first compares for itself: none runs windows unjudged
            judgement = self._judged(hits, control.world.unfinished(), self.world(worlds, None))
            self._sharing.judge(judgement)
        self._progress.notes += judgement.notes
        if judgement.text:
            return self._failed(judgement.text, began, judgement.verdict)
        self._progress.points = list(dict.fromkeys(hit.point for hit in hits))
        windows = self._free(self._plan.windows(hits, self._calls), control)
        without_call = self._plan.without_call(hits, self._calls)
        untried = wording.kinds_without_window(self._plan, windows, idle, without_call)
        self.hook.pytest_crashwindow_windows(item=self.item, windows=windows)
        self._progress.known = len(windows)
        if not windows:
            events = control.world.events()
            lives = sum(event["event"] == "started" for event in events)
            raised = {e["life"]: e["error"] for e in events if e["event"] == "ended" and e["outcome"] == "raised"}
            unfinished = control.world.unfinished()
            text = wording.no_window(self._plan, hits, lives, raised, without_call, unfinished)
            return self._failed(text, began, "error")
        self._progress.notes += [*map(wording.idle_glob, idle), *untried]
        if self.engine.settings.list:
            self._progress.listed = [str(window) for window in windows]
        elif self.engine.settings.off:
            self._progress.stopped = "crashwindow_off: only the control was run"
        else:
            self._run_all(worlds, self._chosen(windows))
        return self._verdict(began)

    def _chosen(self, windows: list[Window]) -> list[Window]:
        ordered = in_order(self.item, windows)
        chosen = [w for w in ordered if is_chosen(self.item, w)]
        if len(chosen) < len(windows):
            self._progress.stopped = DESELECTED
            if self._plan.depth > 1:
                return ordered  # a window behind one that isn't chosen may be
        few = sampled(chosen, self._plan.max_windows, self.engine.settings.seed)
        if len(few) < len(chosen):
            self._progress.stopped = f"max_windows={self._plan.max_windows}, seed {self.engine.settings.seed}"
        return few

    def _run_all(self, worlds: Worlds, windows: list[Window]) -> None:
        self._progress.chosen = [str(window) for window in windows if is_chosen(self.item, window)]
        waiting = deque(windows)
        left = None if self._plan.max_windows is None else self._plan.max_windows
        while waiting:
            if self._stopping():
                return
            window = waiting.popleft()
            if not is_chosen(self.item, window):
                waiting.extendleft(reversed(self._deeper(window, self.world(worlds, window))))
                continue
            if left == 0:
                self._sharing.no_more()
                self._progress.stopped = f"max_windows={self._plan.max_windows}, seed {self.engine.settings.seed}"
                return
            if not self._sharing.claim(str(window)):
                continue
            left = None if left is None else left - 1
            outcome = self._window(worlds, window)
            if outcome.verdict == "passed":
                self._progress.passed.add(str(window))
            deeper = self._deeper(window, outcome)
            behind = [str(w) for w in deeper if is_chosen(self.item, w)]
            self._publish(window, outcome, deeper=len(deeper), behind=behind)
            waiting.extendleft(reversed(deeper))

    def _stopping(self) -> bool:
        reason = self.session.shouldfail or self.session.shouldstop
        if reason or self._sharing.stopped():
            self._progress.stopped = str(reason or "another worker's failure")
            self._progress.broken_off = True
            return True
        return False

    def _deeper(self, window: Window, outcome: Outcome) -> list[Window]:
        """The windows of the lives that followed a fault, while there is depth left."""
        if self.engine.only_window is not None or len(window.steps) >= self._plan.depth:
            return []
        if outcome.verdict not in ("passed", "failed"):
            return []
        last = outcome.world.armed[-1].index  # markers are armed before a window's faults
        fired = [fired for fired in outcome.world.fired() if fired.index == last]
        if not fired:
            return []
        started = {e["life"]: e["at"] for e in outcome.world.events() if e["event"] == "started"}
        later = [hit for hit in outcome.world.hits_in_body() if started.get(hit.life, 0) > fired[-1].at]
        windows = self._free(self._plan.windows(later, self._calls, before=window), outcome)
        self.hook.pytest_crashwindow_windows(item=self.item, windows=windows)
        return windows

    def _free(self, windows: list[Window], outcome: Outcome) -> list[Window]:
        """Without those at hits where a marker's fault ends the life or the call before: they can't be reached."""
        world = outcome.world
        taken = {(f.point, f.ordinal) for f in world.fired() if world.ends_there(f)}
        return [window for window in windows if (window.point, window.steps[-1].hit) not in taken]

    def _window(self, worlds: Worlds, window: Window) -> Outcome:
        """One window's world, with what a report of it needs."""
        outcome = self.world(worlds, window)
        if worlds.comparison(False).missed.exists():  # run alone, without the control that it compares with
            worlds.comparison(False).missed.unlink()
            control = self.world(worlds, None)
            if control.verdict == "passed":
                outcome = self.world(worlds, window)
        for report in outcome.reports:
            report.nodeid = window_id(self.item, window)
        if not outcome.world.unfired():
            self.hook.pytest_crashwindow_fired(item=self.item, window=window)
        for report in outcome.reports:
            report.user_properties += properties(window, outcome.verdict)
        report = outcome.reports[-1]
        if report.failed:
            self.tell_story(outcome, self._progress.happened, str(Window(window.steps[:-1])) in self._progress.passed)
        self.hook.pytest_crashwindow_window_result(item=self.item, window=window, report=report)
        return outcome

    # -- reports of windows ------------------------------------------------------------------

    def _publish(self, window: Window, outcome: Outcome, deeper: int, behind: list[str]) -> None:
        """Set-up, call and tear-down of a window, as those of any test.

        `deeper` windows were found behind it, of which `behind` are run. `known` travels along for a run that
        ends before the sweep does, and so before its own report.
        """
        nodeid = window_id(self.item, window)
        setup, teardown = self.quiet("setup"), self.quiet("teardown")
        setup.sections = list(self._setup.sections)
        last = outcome.reports[-1]
        teardown.user_properties = list(last.user_properties)
        found = {"known": self._progress.known, "deeper": deeper, "behind": behind}
        record = self._record(window, outcome) | found
        last.__dict__["crashwindow_record"] = record
        with self._posing_as(nodeid):
            self.hook.pytest_runtest_logstart(nodeid=nodeid, location=_location(self.item, nodeid))
            for report in (setup, *outcome.reports, teardown):
                self._log_as(report, nodeid)
            self.hook.pytest_runtest_logfinish(nodeid=nodeid, location=_location(self.item, nodeid))
        self._sharing.done(str(window), record)

    def _record(self, window: Window, outcome: Outcome) -> Record:
        """What is kept of a window. The story goes into report files only, so only they pay for it."""
        last = outcome.reports[-1]
        failed = any(report.failed for report in outcome.reports)
        xfailed = last.skipped and hasattr(last, "wasxfail")
        record = {
            "test": self._id,
            "window": str(window),
            "point": window.point,
            "fault": window.fault,
            "verdict": "passed" if outcome.verdict == "passed" and not last.passed else outcome.verdict,
            "outcome": "failed" if failed else "xfailed" if xfailed else last.outcome,
            "reason": getattr(last, "wasxfail", ""),
            "seconds": sum(report.duration for report in outcome.reports),
            "chosen": len(self._progress.chosen),
        }
        if self.engine.settings.report:
            record["rerun"] = wording.rerun(self.item, window)
            record |= self.story(outcome)
        return record

    def _log_as(self, report: pytest.TestReport, nodeid: str) -> None:
        report.nodeid = nodeid
        report.location = _location(self.item, nodeid)
        self.log(report)

    @contextlib.contextmanager
    def _posing_as(self, nodeid: str) -> Iterator[None]:
        """xdist asserts that a report is of the item that it is running: stand in for it meanwhile."""
        items = self.session.items
        if not hasattr(self.config, "workerinput") or self.item not in items:
            yield
            return
        index = items.index(self.item)
        items[index] = _Alias(nodeid)  # type: ignore[call-overload]
        try:
            yield
        finally:
            items[index] = self.item

    # -- the sweep's own report --------------------------------------------------------------

    def _report_itself(self, reports: list[pytest.TestReport]) -> None:
        if self._pin.shard:
            self._report_shard(reports)
            return
        self._add_late_notes(reports)
        reports[-1].user_properties = list(reports[-2].user_properties)  # JUnit reads those of the tear-down
        with self._posing_as(self._id):
            self.hook.pytest_runtest_logstart(nodeid=self._id, location=_location(self.item, self._id))
            for report in reports:
                self._log_as(report, self._id)
            self.hook.pytest_runtest_logfinish(nodeid=self._id, location=_location(self.item, self._id))
        if isinstance(self._sharing, Shared):
            self._sharing.finish(any(report.failed for report in reports))

    def _add_late_notes(self, reports: list[pytest.TestReport]) -> None:
        """What other workers have told since the verdict, or where there was none (a skipped sweep)."""
        notes = self._sharing.notes() if isinstance(self._sharing, Shared) else []
        if notes and not any(report.failed for report in reports):
            reports[-1].outcome, reports[-1].longrepr = "failed", "\n".join(notes)

    def _only_tear_down(self) -> None:
        """Nothing is left to run. What the item before left standing for this one (its module) has to go."""
        setup_state = self.session._setupstate
        call = pytest.CallInfo.from_call(lambda: setup_state.teardown_exact(self.nextitem), when="teardown")
        if call.excinfo is not None:
            self._report_shard([self.hook.pytest_runtest_makereport(item=self.item, call=call)])

    def _report_shard(self, reports: list[pytest.TestReport]) -> None:
        """A shard tells shard 0 what went wrong; only when that has spoken already it reports itself."""
        assert isinstance(self._sharing, Shared)
        failed = [report for report in reports if report.failed]
        if not failed:
            return
        text = f"on another worker: {failed[0].longreprtext}"
        if not self._sharing.finished():
            self._sharing.note(self._pin.shard, text)
            if not self._sharing.take_back(self._pin.shard):
                return
        if self._sharing.finished_as_failed():
            return
        with self._posing_as(self._id):
            for report in failed:
                self._log_as(report, self._id)

    def _control_failed(self, control: Outcome) -> list[pytest.TestReport]:
        last = control.reports[-1]
        if self.engine.settings.report:
            self._progress.control = self.story(control)["timeline"]
        failed = next((report for report in control.reports if report.failed), None)
        if failed:
            failed.sections.insert(0, ("crashwindow", story.of_control(self.item, failed, control)))
        if failed or not last.skipped:
            verdict = "control " + control.verdict
        else:
            verdict = "control xfailed" if hasattr(last, "wasxfail") else "skipped"
        last.__dict__["crashwindow_sweep"] = self._summary({}, verdict, failed or last)
        return control.reports

    def _judged(self, hits: list[Hit], unfinished: list[str], again: Outcome) -> Judgement:
        """Whether a control and its repetition make a sweep possible. `unfinished` are lives of the first one."""
        if again.verdict != "passed":
            return Judgement("unsteady control", wording.second_control_failed(again.reports[-1].longreprtext))
        other = again.world.hits_in_body()
        found = difference(hits, other)
        if found:
            return Judgement("unsteady control", wording.unsteady(found, unfinished or again.world.unfinished()))
        notes = [wording.ORDER_DIFFERS] if order_differs(hits, other) else []
        unpassed = self._plan.unpassed(hits)
        unknown = self._unknown([f"!{name}" for name in self._plan.excluded if not is_glob(name)] + unpassed, hits)
        if unknown:
            return Judgement("error", unknown)
        notes += wording.programs_unseen(hits)
        return Judgement(notes=(*notes, *map(wording.not_passed, unpassed)))

    def _unknown(self, asked: list[str], hits: list[Hit]) -> str:
        """What to say of the first name that no code has. Knowing all names takes reading the project's source."""
        known = self.engine.known_points(list(self._calls)) | {hit.point for hit in hits} if asked else set()
        for spelled in asked:
            name = spelled.removeprefix("!")
            if not any(matches(name, point) for point in known):
                return wording.unknown_point(spelled, near_names(name, known), hits)
        return ""

    def _failed(self, text: str, began: float, verdict: str) -> list[pytest.TestReport]:
        report = self.quiet("call")
        report.duration = originals.monotonic() - began
        report.outcome, report.longrepr = "failed", text
        report.user_properties.append(("crashwindow_verdict", verdict))
        report.__dict__["crashwindow_sweep"] = self._summary({}, verdict, report)
        return [report]

    def _verdict(self, began: float) -> list[pytest.TestReport]:
        if self._pin.shard:
            return []
        records = self._sharing.results()
        notes = self._sharing.notes() if isinstance(self._sharing, Shared) else []
        bad = [record for record in records.values() if record["outcome"] == "failed"]
        explored = len(records)
        if bad or notes:
            text = wording.sweep_failed(bad, explored, self._known(records), self._progress.stopped, notes)
            return self._failed_windows(text, began, records)
        xfailed = [record for record in records.values() if record["outcome"] == "xfailed"]
        if xfailed:
            report = self.quiet("call")
            report.outcome, report.wasxfail = "skipped", xfailed[0]["reason"]
        elif self._says_nothing(records):
            report = self.quiet("call")
            path, line, _ = self.item.location
            why = self._progress.stopped or "each was skipped"
            text = f"Skipped: explored {explored} of {self._known(records)} windows ({why})"
            report.outcome, report.longrepr = "skipped", (path, line or 0, text)
        else:
            report = self._makereport_of_a_pass(began)
        report.duration = originals.monotonic() - began
        report.user_properties.append(("crashwindow_verdict", "passed"))
        report.__dict__["crashwindow_sweep"] = self._summary(records, "passed")
        return [report]

    def _says_nothing(self, records: dict[str, Record]) -> bool:
        """Whether a sweep without a failure is no pass either: nothing was run or passed, or it was broken off."""
        if self._controls_only:
            return False
        return self._progress.broken_off or not any(record["outcome"] == "passed" for record in records.values())

    @property
    def _controls_only(self) -> str | None:
        return self.engine.settings.controls_only

    def _failed_windows(self, text: str, began: float, records: dict[str, Record]) -> list[pytest.TestReport]:
        (report,) = self._failed(text, began, "failed")
        report.__dict__["crashwindow_sweep"] = self._summary(records, "failed", report)
        return [report]

    def _makereport_of_a_pass(self, began: float) -> pytest.TestReport:
        """By pytest's own hook, which turns it into XPASS where the test is marked xfail."""
        call = pytest.CallInfo.from_call(lambda: None, when="call")
        report: pytest.TestReport = self.hook.pytest_runtest_makereport(item=self.item, call=call)
        return report

    def _summary(
        self, records: dict[str, Record], verdict: str, report: pytest.TestReport | None = None
    ) -> dict[str, Any]:
        """What the terminal and report files need of this sweep; it travels with the report.

        `report` says why it isn't a pass.
        """
        return {
            **(of_report(report) if report else {"message": "", "failure": ""}),
            "test": self._id,
            "verdict": verdict,
            "known": self._known(records),
            "explored": len(records),
            "stopped": self._progress.stopped,
            "notes": self._progress.notes,
            "points": self._progress.points,
            "control": self._progress.control,
            "rerun": wording.rerun_sweep(self.item, self._id),
            "listed": self._progress.listed,
            "rebound": self._progress.rebound,
            "windows": self._in_order(records),
        }

    def _known(self, records: dict[str, Record]) -> int:
        """How many windows exist: those of the control, and those found behind others, by whatever worker."""
        return self._progress.known + sum(int(record.get("deeper", 0)) for record in records.values())

    def _in_order(self, records: dict[str, Record]) -> list[Record]:
        """As one process would have run them: each window, then those behind it."""
        ordered: dict[str, Record] = {}
        waiting = deque(self._progress.chosen)
        while waiting:
            window = waiting.popleft()
            if window in records and window not in ordered:
                ordered[window] = records[window]
                waiting.extendleft(reversed(records[window].get("behind", ())))
        return [*ordered.values(), *(record for window, record in records.items() if window not in ordered)]


@dataclass(frozen=True)
class _Alias:
    nodeid: str


def _location(item: pytest.Item, nodeid: str) -> tuple[str, int | None, str]:
    path, line, domain = item.location
    bracket = nodeid.partition("[")
    return path, line, domain.partition("[")[0] + bracket[1] + bracket[2]
