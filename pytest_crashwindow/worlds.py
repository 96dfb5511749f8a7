"""Running a test body in a world: fork, wait, collect the reports. The pytest process stays outside."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest

from . import originals
from .blocking import sounds_locked
from .comparing import Comparison
from .errors import CrashWindowError, UnseenError, WorldBroken
from .fixture import CrashWindow
from .guard import Done, Guard
from .known import near_names
from .lives import Life
from .living import STACKS_SIGNAL
from .points import is_glob, matches
from .record import Hit
from .report import evidence, timeline, wording
from .stacks import own_part
from .sweep import unpassed
from .windows import Window, parse
from .world import Problem, World

if TYPE_CHECKING:
    from .engine import Engine
    from .report.kinds import Kind

_END_PATIENCE = 10.0  # seconds for a world that has reported to end, in which coverage may save its data
_LOOK = 0.25  # seconds between looks for a limit that the world itself was given

Warned = tuple[str, type[Warning] | None, str, int]


@dataclass
class Outcome:
    """What came out of one world."""

    world: World
    reports: list[pytest.TestReport] = field(default_factory=list)
    """of the call phase; those of subtests come first"""
    verdict: str = "passed"
    hint: Kind | None = None
    """what kind of window a failure looks like"""
    own_memory: bool = False
    """whether a failed assertion looked at the test's memory for what lives did in theirs"""
    warned: list[Warned] = field(default_factory=list)
    exit: tuple[str, int | None] | None = None
    """the reason and exit status of a `pytest.exit` in the test body"""
    stop: tuple[bool | str, bool | str] = (False, False)
    """`session.shouldstop` and `shouldfail` as the test body left them"""


class Worlds:
    """The worlds of one item, one after another, all forked from a guard as it was after set-up."""

    def __init__(
        self,
        engine: Engine,
        item: pytest.Item,
        crashwindow: CrashWindow,
        limit: float | None,
    ) -> None:
        self._engine, self._item, self._crashwindow, self._limit = engine, item, crashwindow, limit
        self._random = random.getstate()
        self._guard: Guard | None = None
        self._problem = ""
        self._leaving: int | None = None
        """a world that is done and was left to end by itself, while its report is passed on"""
        self._compared = False
        """whether a control has run, so that the points of windows are known ones"""

    def open(self) -> None:
        """Fork the guard. If it can't prepare lives, every world fails with what it said."""
        self._flush()
        crashwindow = self._crashwindow
        try:
            self._guard = Guard(self._be_world, crashwindow.directory, crashwindow.prepare_lives, self._start_afresh)
        except CrashWindowError as error:
            self._problem = str(error)

    def _flush(self) -> None:
        """What pytest has written so far, lest a copy of this process write it as well."""
        reporter = self._item.config.pluginmanager.getplugin("terminalreporter")
        if reporter is not None:
            reporter.flush()

    def close(self) -> None:
        """End the guard and all below it."""
        if self._guard is not None:
            try:
                with contextlib.suppress(WorldBroken):  # the last world has reported
                    self._settle(self._guard)
            finally:
                self._guard.close()
                self._guard = None

    def run(self, window: Window | None) -> Outcome:
        """The test body in a world of its own. Whatever happens there, nothing of it is left running."""
        started = originals.monotonic()
        try:
            world = self._world(window)
        except CrashWindowError as error:  # a window by a name that somebody typed
            return self._failed(self._empty_world(window), Problem("error", str(error)), started)
        self._flush()
        if self._guard is None:
            shutil.rmtree(world.directory, ignore_errors=True)
            return self._failed(world, Problem("error", self._problem), started)
        try:
            return self._run(self._guard, world, started)
        except WorldBroken as error:
            self.close()
            for pid in world.running().values():
                for kill in (os.killpg, os.kill):  # one so young has no group of its own yet
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        kill(pid, signal.SIGKILL)
            self._problem = str(error)
            return self._failed(world, Problem("error", self._problem), started)
        except CrashWindowError as error:
            return self._failed(world, Problem("error", str(error)), started)

    def _run(self, guard: Guard, world: World, started: float) -> Outcome:
        try:
            self._settle(guard)
            pid = guard.fork({"window": str(world.window) if world.window else None, "compared": self._compared})
        except CrashWindowError:
            shutil.rmtree(world.directory, ignore_errors=True)  # that of the world before
            raise
        shutil.rmtree(self._directory_of_last, ignore_errors=True)
        self._compared |= world.window is None
        status = self._wait(guard, pid, world)
        if status == "done":
            self._leaving = pid
            outcome = self._read(world, 0, started)
            if world.window is None or outcome.verdict != "passed":  # somebody will look at its files
                self._settle(guard)
                guard.await_clear()
            return outcome
        try:
            if status is None:
                return self._hung(world, pid, started)
            return self._read(world, status, started)
        finally:
            guard.clear()
            guard.await_clear()

    def _settle(self, guard: Guard) -> None:
        """Let the last world end by itself, and have what it left behind killed."""
        if self._leaving is not None:
            pid, self._leaving = self._leaving, None
            guard.change(pid, _END_PATIENCE)
            guard.clear()

    def _start_afresh(self) -> None:
        """In the guard, before each world: nothing is left of the one before, in files either."""
        with contextlib.suppress(FileNotFoundError):
            originals.rename(self._empty_world(None).directory, self._directory_of_last)  # quicker than to remove it
        self._crashwindow.restore_state()

    @property
    def _directory_of_last(self) -> Path:
        return self._crashwindow.directory / "world.before"

    def _world(self, window: Window | None) -> World:
        world = self._empty_world(window)
        world.armed = self._crashwindow.plan.armed_for(window)
        return world

    def _empty_world(self, window: Window | None) -> World:
        return World(self._crashwindow.directory / "world", self._crashwindow.plan.faults, window)

    def _wait(self, guard: Guard, pid: int, world: World) -> int | Literal["done"] | None:
        """The wait status of the world, "done" if it has reported, or None when its time is over."""
        started = originals.monotonic()
        while True:
            begun, limit = world.limited(started, self._limit or None)
            left = _LOOK if limit is None else min(_LOOK, begun + limit - originals.monotonic())
            if left <= 0:
                return None
            status = guard.end(pid, left)
            if status == "done" or (status is not None and not os.WIFSTOPPED(status)):
                return status

    def comparison(self, is_control: bool) -> Comparison:
        """The values that `same_as_control` keeps and compares."""
        return Comparison(self._crashwindow.directory / "control", self._item.config, is_control)

    # -- in the pytest process ---------------------------------------------------------------

    def _read(self, world: World, status: int, started: float) -> Outcome:
        try:
            data: dict[str, Any] = originals.from_pickle(originals.read_file(world.directory / "report"))
        except FileNotFoundError:
            return self._broken(world, status, started)
        return Outcome(world, **data)

    def _broken(self, world: World, status: int, started: float) -> Outcome:
        code = os.waitstatus_to_exitcode(status)
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"
        why = "Something in it called os._exit or crashed the interpreter, or it was killed from outside."
        text = f"the process that ran the test body ended {how} before it could report. {why}\n{self._captured()}"
        return self._failed(world, Problem("error", text), started)

    def _hung(self, world: World, pid: int, started: float) -> Outcome:
        _, seconds = world.limited(0, self._limit)
        limit = f" of {seconds:g} s" if seconds else ""
        text = [f"Timeout: the test body took longer than its limit{limit} (pytest-timeout)."]
        world.waited_in_vain("")
        paused = world.paused()
        for name, number in world.running().items():
            at = ""
            if name in paused:
                at = f" is paused at {', '.join(f'{f.point}+{f.ordinal}' for f in world.fired() if f.life == name)}"
            text.append(f"Life {name!r}{at}:\n{_stacks_of(number, world.files_of(name).stacks)}")
        text.append(f"The test body:\n{_stacks_of(pid, f'{world.directory}/stacks')}")
        text.append(f"What happened:\n{self._story(world)}")
        return self._failed(world, Problem("hung", "\n".join(text)), started)

    def _failed(self, world: World, problem: Problem, started: float) -> Outcome:
        report = quiet_report(self._item, "call", started)
        report.outcome, report.longrepr = "failed", problem.text
        return Outcome(world, [report], problem.verdict)

    def _captured(self) -> str:
        """What a world that was killed had printed; with fd capture it is still in pytest's file."""
        capture = self._item.config.pluginmanager.getplugin("capturemanager")
        if capture is None or not capture.is_globally_capturing():
            return ""
        out, err = capture.read_global_capture()
        return "\n".join(part for part in (out, err) if part)

    # -- in the world ------------------------------------------------------------------------

    def _be_world(self, await_order: Callable[[], dict[str, Any]], done: Done) -> NoReturn:
        pid = originals.getpid()
        try:
            os.setpgid(0, 0)
            random.setstate(self._random)
            reports = self._diverted_reports()
            order = await_order()
            window = parse(order["window"]) if order["window"] else None
            self._engine.world = world = self._world(window)
            self._compared = order["compared"]
            self._crashwindow.enter_world(world, self.comparison(is_control=window is None))
            with originals.open_file(world.directory / "stacks", "w") as stacks:
                faulthandler.register(STACKS_SIGNAL, file=stacks, all_threads=True, chain=False)
                data = self._collect(world, reports)
            if originals.getpid() == pid:  # not a child that the test body forked and let run on
                unfinished = world.directory / "report.part"
                originals.write_file(unfinished, data)
                originals.replace(unfinished, world.directory / "report")
                sys.stdout.flush()
                sys.stderr.flush()
                done()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            originals.leave(0)

    def _collect(self, world: World, reports: list[pytest.TestReport]) -> bytes:
        item, data = self._item, dict[str, Any]()
        with self._recorded_warnings() as log:
            try:
                report, error = self._report(world, reports)
                reports.append(report)
                data["own_memory"] = error is not None and not world.fired() and self._looked_at_own_memory(error)
                data["verdict"] = _verdict(world, reports)
            except pytest.exit.Exception as exit:
                data["exit"] = (exit.msg, exit.returncode)
        data["reports"] = [_picklable(report) for report in reports]
        data["warned"] = [_warned(message) for message in log or ()]
        data["stop"] = (item.session.shouldstop, item.session.shouldfail)
        return originals.to_pickle(data)

    def _recorded_warnings(self) -> contextlib.AbstractContextManager[list[warnings.WarningMessage] | None]:
        """Those of the test body, unless the test records them itself."""
        if "recwarn" in getattr(self._item, "fixturenames", ()):
            return contextlib.nullcontext([])
        return warnings.catch_warnings(record=True)

    def _diverted_reports(self) -> list[pytest.TestReport]:
        """Where reports go. Nobody reports from a world: not to the terminal, and not into xdist's channel."""
        reports = list[pytest.TestReport]()

        def collect(*, report: pytest.TestReport) -> None:
            reports.append(report)

        self._item.config.hook.pytest_runtest_logreport = collect  # type: ignore[attr-defined]
        self._item.ihook.pytest_runtest_logreport = collect  # type: ignore[attr-defined]
        return reports

    def _looked_at_own_memory(self, error: BaseException) -> bool:
        from .report import memory

        try:
            return memory.looked_at(error, str(self._item.path), self._crashwindow.targets)
        except Exception:  # somebody's objects don't like to be looked at; it's for a hint only
            return False

    def _report(
        self, world: World, subtests: list[pytest.TestReport]
    ) -> tuple[pytest.TestReport, BaseException | None]:
        hook, item = self._item.ihook, self._item
        call = pytest.CallInfo.from_call(lambda: self._body(world), when="call", reraise=(pytest.exit.Exception,))
        report: pytest.TestReport = hook.pytest_runtest_makereport(item=item, call=call)
        if self._crashwindow.plan.sweep and call.excinfo is None:
            _just_passed(report)
        failed_subtests = sum(subtest.failed for subtest in subtests)
        if report.passed and failed_subtests:
            report.outcome = "failed"
            report.longrepr = f"contains {wording.counted(failed_subtests, 'failed subtest')}"
        if report.failed:
            self._add_sections(report, world)
        wants_pdb = item.config.getoption("usepdb", False)
        if wants_pdb and call.excinfo is not None and not hasattr(report, "wasxfail") and not report.skipped:
            hook.pytest_exception_interact(node=item, call=call, report=report)
        return report, call.excinfo.value if call.excinfo is not None else None

    def _body(self, world: World) -> None:
        __tracebackhide__ = True
        try:
            self._item.ihook.pytest_runtest_call(item=self._item)
        except pytest.skip.Exception:
            self._crashwindow.leave_world()
            _fail_if_blamed(world)
            raise
        except BaseException as error:
            if sounds_locked(str(error)):
                world.waited_in_vain("")
            self._crashwindow.leave_world()
            text = self._unknown_point(world)
            if text:
                raise pytest.fail.Exception(text, pytrace=False) from error
            if world.window is None and world.unfired():  # which may well be why
                error.add_note(wording.never_fired(world.unfired(), world.hits(), late=world.fired_late()))
            raise
        self._crashwindow.leave_world()
        self._verify(world)
        if not self._compared:  # the second control would say it again
            self._warn_of_unseen_errors()

    def _warn_of_unseen_errors(self) -> None:
        __tracebackhide__ = True
        path, line, _ = self._item.location
        for told in self._crashwindow.raised_unseen():
            text = f"{told}, and the test never asked what became of it: read its value or error, or assert its outcome"
            warnings.warn_explicit(text, UnseenError, path, (line or 0) + 1)

    def _verify(self, world: World) -> None:
        """A body that passed isn't enough: every fault must have fired and every end be explained."""
        __tracebackhide__ = True
        _fail_if_blamed(world)
        unfired = world.unfired() + self._crashwindow.unfired_in_setup()
        text = self._unknown_point(world)
        if unfired and not text:
            lives, late = self._crashwindow.lives, world.fired_late()
            text = wording.never_fired(unfired, world.hits(), any_life=bool(lives), late=late)
        if text:
            pytest.fail(text, pytrace=False)

    def _unknown_point(self, world: World) -> str:
        """What to say of the first armed fault whose point no code has. Windows have the points of a control."""
        if self._compared:
            return ""
        hits = world.hits()
        for armed in world.unfired():
            names = self._engine.known_points(self._crashwindow.plan.calls) | {hit.point for hit in hits}
            if not any(armed.waits_at(name) for name in names) and not is_glob(armed.pattern):
                return wording.unknown_point(armed, near_names(armed.pattern, names), hits)
        return self._unknown_held(world, hits)

    def _unknown_held(self, world: World, hits: list[Hit]) -> str:
        """What to say of the first `hold=` that no code has; unlike what fires, it need not be passed."""
        for armed in world.armed:
            for name in unpassed(armed.fault.also_at(), hits):
                names = self._engine.known_points(self._crashwindow.plan.calls)
                if not any(matches(name, known) for known in names):
                    return wording.unknown_also_at(armed, name, near_names(name, names), hits)
        return ""

    def _story(self, world: World) -> str:
        return timeline.text(world, self._crashwindow.effects.all(), evidence.shortener(self._item))

    def _add_sections(self, report: pytest.TestReport, world: World) -> None:
        story = self._story(world)
        if story:
            report.sections.append(("crashwindow timeline", story))
        told = report.longreprtext  # where pytest puts `E` before each line
        problems = [problem for problem in world.problems if problem.text.partition("\n")[0] not in told]
        report.sections += [(f"crashwindow {problem.verdict}", problem.text) for problem in problems]
        for life in self._crashwindow.lives:
            report.sections += _output_of(life)


def _just_passed(report: pytest.TestReport) -> None:
    """A window or control that passes is no XPASS: only the sweep as a whole can be one."""
    report.outcome, report.longrepr = "passed", None
    report.__dict__.pop("wasxfail", None)


def _fail_if_blamed(world: World) -> None:
    __tracebackhide__ = True
    if world.problems:
        raise pytest.fail.Exception("\n\n".join(f"{p.verdict}: {p.text}" for p in world.problems), pytrace=False)


def quiet_report(item: pytest.Item, when: Any, started: float | None = None) -> pytest.TestReport:
    """A report of a phase that passed, to be filled in."""
    now, duration = time.time(), originals.monotonic() - started if started else 0.0
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="passed",
        longrepr=None,
        when=when,
        sections=[],
        duration=duration,
        start=now - duration,
        stop=now,
    )


def replay_warnings(warned: list[Warned]) -> None:
    """Raise a world's warnings again where pytest counts them."""
    for text, category, file, line in warned:
        try:
            warnings.warn_explicit(text, category or UserWarning, file, line)
        except Warning:
            continue  # "error" filters have acted in the world already


def _warned(message: warnings.WarningMessage) -> Warned:
    category: type[Warning] | None = message.category
    try:
        originals.to_pickle(category)
    except Exception:
        category = None
    return str(message.message), category, message.filename, message.lineno


def _verdict(world: World, reports: list[pytest.TestReport]) -> str:
    if world.problems:
        return world.problems[0].verdict
    if reports[-1].failed and world.unfired():
        return "not reached"
    return "failed" if any(report.failed for report in reports) else "passed"


def _picklable(report: pytest.TestReport) -> pytest.TestReport:
    if report.longrepr is None and not report.user_properties:
        return report  # nothing in it is anybody else's
    try:
        originals.from_pickle(originals.to_pickle(report))
    except Exception:
        report.longrepr = str(report.longrepr)
        report.user_properties = [(str(k), str(v)) for k, v in report.user_properties]
    return report


def _output_of(life: Life) -> list[tuple[str, str]]:
    texts = (("stdout", life.stdout), ("stderr", own_part(life.stderr)), ("traceback", life.traceback))
    return [(f"crashwindow {stream} of life {life.name!r}", text[-4000:]) for stream, text in texts if text]


def _stacks_of(pid: int, file: str) -> str:
    """Ask a process for its stacks and give it a moment to write them."""
    path = Path(file)
    try:
        originals.kill(pid, STACKS_SIGNAL)
    except ProcessLookupError:
        return "(gone)"
    deadline = originals.monotonic() + 1
    size = -1
    while originals.monotonic() < deadline:
        now = path.stat().st_size if path.exists() else 0
        if now and now == size:
            break
        size = now
        originals.sleep(0.02)
    text = path.read_text(errors="replace") if path.exists() else ""
    return own_part(text)[:4000] or "(no stack: blocked in the kernel, or no Python)"
