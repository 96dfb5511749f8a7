"""The object behind the fixture `crashwindow`: how a test starts lives and looks at what they did."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import random
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from . import originals
from .arming import Faults, armed_for_life, check_calls, named_calls, names_of, refuse_misspelt
from .clock import Clock
from .connections import OpenedAt
from .effects import Effects
from .errors import BadOption, LifeNotOver, TooManyDeaths, UnattributedDeath, UnsupportedPlatform
from .installing import Installed, install
from .lives import Child, GuardedChild, Life, OwnChild
from .living import live
from .points import Armed, Selection
from .probes.base import Probe
from .rehearsing import check_unimported
from .state import Snapshots
from .sweep import SweepPlan
from .tracker import Orders, Tracker
from .windows import Window
from .world import World


@dataclass
class Plan:
    """What a test asks for by markers and options."""

    faults: Faults
    probes: list[Probe]
    calls: list[str] = field(default_factory=list)
    armed: list[Armed] = field(default_factory=list)
    patterns: tuple[str, ...] = ()
    death: str = "kill"
    life_timeout: float = 30.0
    sweep: SweepPlan | None = None

    def armed_for(self, window: Window | None) -> list[Armed]:
        """What is armed in a world: what markers arm, and the faults of the window."""
        if window is None:
            return list(self.armed)
        assert self.sweep is not None
        return [*self.armed, *self.sweep.armed(window, self.faults, frozenset(self.calls), len(self.armed))]

    @property
    def selection(self) -> Selection:
        """Which points are recorded."""
        only_by_name = frozenset(call for probe in self.probes for call in probe.only_by_name)
        return Selection(self.patterns, only_by_name, self.sweep.patterns if self.sweep else ())


class CrashWindow:
    """Starts lives, and holds what outlives them: a clock, effects, state directories.

    One for each test. In the process that sets fixtures up no fault of a marker or sweep fires; the test
    body runs in a process of its own, a *world*, where they do.
    """

    def __init__(self, directory: Path, plan: Plan, opened: OpenedAt, project: Collection[Path] = ()) -> None:
        self.directory, self.plan = directory, plan
        self._project = project
        """what people may be working on while the test runs: no state directory may have it inside"""
        ledger = directory / "ledger"
        ledger.mkdir(parents=True)
        self.clock = Clock(ledger / "clock")
        """a clock that stands until the test moves it"""
        self.effects = Effects(ledger / "effects")
        """what the code under test did outside"""
        self._opened = opened
        self._snapshots = Snapshots(directory / "snapshots")
        self._state: list[Path] = []
        self._in_world = False
        self._set_up = 0
        self.death_was_told = False
        """whether set-up failed with the death of a life, so that tear-down needn't say it again"""
        self.lives: list[Life] = []
        self.targets: list[Callable[[], Any]] = []
        """what they run, with its arguments"""
        self._names: set[str] = set()
        self._compared = 0
        self._compare: Callable[[str, object], None] = lambda name, value: None
        self._tracker: Tracker | None = None
        self._installed: Installed | None = None
        self._seed = f"{random.getstate()[1][:4]}"
        self._setup = self._world = World(directory / "setup", plan.faults)
        self._world.make()
        self.state(ledger)

    # -- lives -------------------------------------------------------------------------------

    def run(self, target: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Life:
        """Run `target(*args, **kwargs)` in a new process; wait until it returned, raised, died or is paused.

        `target` is any callable, closures and `async def` included. Keywords such as
        `crash_at="shop.order.committed"` arm a fault for this life alone. At most
        `crashwindow_life_timeout` seconds. `name=` is the life's, unless the target has a parameter of that name.
        """
        __tracebackhide__ = True
        return self._start(target, args, kwargs, _taken_name(target, args, kwargs)).wait_idle()

    def start(self, target: Callable[..., Any], /, *args: Any, name: str | None = None, **kwargs: Any) -> Life:
        """Run `target` in a new process in the background; see `run`. `name` is the life's."""
        __tracebackhide__ = True
        return self._start(target, args, kwargs, name)

    def _start(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None,
        armed: Sequence[Armed] | None = None,
    ) -> Life:
        __tracebackhide__ = True
        _refuse_unsupported()
        if not callable(target):
            raise TypeError(
                f"run, start and supervise take a function and its arguments, not {target!r}: "
                f"run(function, argument), without calling it"
            )
        self._opened.refuse_open_ones()
        name = self._unique(name or _name_of(target))
        armed = self._taken_from(kwargs) if armed is None else armed
        refuse_misspelt(self.plan.faults, kwargs, target)
        probed = {call for probe in self.plan.probes for call in probe.calls}
        for call in named_calls(names_of(armed), probed):
            self.attach(call)
        check_calls(self.plan.calls, armed)
        self._world.arm([replace(one, life=name) for one in armed])
        self.targets.append(functools.partial(target, *args, **kwargs))
        life = self._fork(name, self.targets[-1])
        self.lives.append(life)
        return life

    def _taken_from(self, keywords: dict[str, Any]) -> list[Armed]:
        """The faults that keywords arm for one life."""
        return armed_for_life(self.plan.faults, keywords, len(self._world.armed))

    def supervise(self, target: Callable[..., Any], /, *args: Any, max_lives: int = 10, **kwargs: Any) -> Life:
        """Run `target` again after each death, until a life ends by itself or is paused; that life.

        A fault armed by a keyword fires in the first life that reaches it.
        Raises TooManyDeaths after `max_lives` deaths.
        """
        __tracebackhide__ = True
        lives, armed, name = list[Life](), self._taken_from(kwargs), _taken_name(target, args, kwargs)
        for _ in range(max_lives):
            life = self._start(target, args, kwargs, name, armed).wait_idle()
            if life.now not in ("crashed", "killed"):
                return life
            lives.append(life)
        deaths = [f"{life.name}: {life.now} at {life.window or (life.hits or ['its start'])[-1]}" for life in lives]
        raise TooManyDeaths(
            f"{_name_of(target)!r} died in every life (max_lives={max_lives}):\n  " + "\n  ".join(deaths)
        )

    def resume_all(self) -> None:
        """Wake every paused life and wait for it."""
        __tracebackhide__ = True
        for life in self.lives:
            life.resume()

    # -- what the test says and sees ---------------------------------------------------------

    @property
    def window(self) -> Window | None:
        """The window of this world; None in the control and outside sweeps."""
        return self._world.window

    def state(self, path: str | os.PathLike[str]) -> Path:
        """Declare one more directory or file as durable state; `tmp_path` is by itself.

        It is put back as it was after set-up for every window of a sweep.
        """
        __tracebackhide__ = True
        absolute = Path(os.path.abspath(path))
        if self.plan.sweep and absolute in self.directory.parents:
            raise BadOption(
                f"state({str(absolute)!r}): the temporary files of pytest and of this plugin lie inside; "
                f"name the directory that the code under test uses"
            )
        mine = next((path for path in self._project if absolute in (path, *path.parents)), None)
        if self.plan.sweep and mine is not None:
            raise BadOption(
                f"state({str(absolute)!r}): {mine} lies inside, and a sweep would put it back as it was, with whatever "
                f"you change meanwhile; name the directory that the code under test uses, best one below tmp_path"
            )
        if absolute.is_symlink():  # what it leads to is as durable as the link
            self.state(os.path.realpath(absolute))
        if absolute not in self._state:
            self._state.append(absolute)
        if self._in_world and self.plan.sweep:
            self._snapshots.take(absolute)
        return absolute

    def same_as_control(self, value: object, name: str | None = None) -> None:
        """In the control remember `value`; in every window assert that it is equal to that.

        The invariant for those who have none yet: after recovery nobody can tell that it broke. Values are
        kept by pickle; several in one test are told apart by `name` or by their order.
        """
        __tracebackhide__ = True
        if self.plan.sweep is None:
            raise LifeNotOver("same_as_control compares the windows of a sweep: mark the test with crash_windows")
        self._compared += 1
        self._compare(name or f"value {self._compared}", value)

    def observe(self, name: str, value: object) -> None:
        """Put a value (the rows of a table, say) into the timeline of the report."""
        self._world.tell("observed", "", name=name, value=_plain(value))

    def attach(self, call: str) -> None:
        """Attach points to a call for this test, such as `"shop.mail:Mailer.send"`."""
        __tracebackhide__ = True
        if not isinstance(call, str):
            raise BadOption(f"attach: a call is text such as 'shop.mail:Mailer.send', not {call!r}")
        check_calls([call], ())
        if self._in_world:  # before, the guard does it for all calls
            check_unimported([call])
        if call not in self.plan.calls:
            self.plan.calls.append(call)
        if self._installed is not None:
            self._installed.attach_more(call)

    # -- for the plugin ----------------------------------------------------------------------

    def prepare_lives(self) -> None:
        """In the guard: put points in place and keep the state as it is after set-up."""
        self._install()
        if self.plan.sweep:
            self._opened.refuse_open_ones(self._state)
            for path in self._state:
                self._snapshots.take(path)
        check_unimported(self.plan.calls)

    def restore_state(self) -> None:
        """In the guard, before each world: the state is as it was after set-up."""
        if self.plan.sweep:
            self._snapshots.restore()

    def enter_world(self, world: World, compare: Callable[[str, object], None]) -> None:
        """In a world's process: from here on lives belong to this world.

        `compare(name, value)` remembers a value of the control, or asserts that it is the same.
        """
        self._compare = compare
        world.make()
        self._world, self._in_world = world, True
        self._set_up = len(self.lives)

    def leave_world(self) -> None:
        """In a world's process, after the test body: nothing goes on, and everything is taken in."""
        self._world.end_body()
        for life in self.lives[: self._set_up]:  # these are of the fixtures, which end them
            with contextlib.suppress(UnattributedDeath):
                life.wait_if_dying()
        for life in self.lives[self._set_up :]:
            with contextlib.suppress(UnattributedDeath):
                if life.now == "running":
                    self._world.tell_unfinished(life.name)
                life.kill()
        self._world.problems += self._setup.problems
        for call, attached in self._installed.attached.items() if self._installed is not None else ():
            if attached.names:
                self._world.tell_rebound(call, attached.names)
        for text in self._complaints():
            self._world.blame("error", text)
        for life in self.lives:
            if life.timeout_text and (self.plan.sweep or not life.timeout_was_seen):
                self._world.blame("hung", life.timeout_text)

    def _complaints(self) -> list[str]:
        """Why points couldn't be put in place when a module was imported: in lives, and in the test body."""
        here = self._tracker.complaints if self._tracker is not None else []
        return list(dict.fromkeys([*self._setup.complaints(), *self._world.complaints(), *here]))

    def raised_unseen(self) -> list[str]:
        """After the test body: what lives raised by themselves and the test never asked for.

        Not in windows: what a control does without a word, they do as well.
        """
        lives = [] if self.window is not None else self.lives[self._set_up :]
        return [f"life {life.name!r} raised {life.raised}" for life in lives if life.raised_unseen]

    def unfired_in_setup(self) -> list[Armed]:
        """Faults given to lives of fixtures that never fired."""
        return self._setup.unfired()

    def close(self) -> None:
        """In pytest's process, when the fixture is torn down.

        Raises UnattributedDeath if a life of a fixture died and nobody has told so far.
        """
        __tracebackhide__ = True
        for life in self.lives:
            life.retire()
        if self._setup.problems and not self.death_was_told:
            raise UnattributedDeath("\n".join(problem.text for problem in self._setup.problems))

    def _install(self) -> None:
        if self._tracker is None:
            self._tracker = Tracker()
            self._installed = install(self._tracker, self.plan.probes, self.plan.calls)

    def _fork(self, name: str, target: Callable[[], Any]) -> Life:
        files = self._world.files_of(name)
        originals.mkdir(files.directory)
        woken, wake = originals.pipe()
        resumed, resume = originals.pipe()
        main = self._main(target, name, wake, resumed)
        begins = originals.monotonic_ns()  # the child may pass points before this process goes on
        child: Child = OwnChild(main) if self._in_world else GuardedChild(main, self.directory)
        originals.close(wake)
        originals.close(resumed)
        self._world.tell("started", name, pid=child.pid, at=begins)
        return Life(name, child, files, self._world, woken, resume, self.plan.life_timeout)

    def _main(self, target: Callable[[], Any], name: str, wake: int, resumed: int) -> Callable[[], NoReturn]:
        world = self._world

        def begin() -> tuple[Tracker, Orders]:
            self._opened.rest()
            self._install()
            assert self._tracker is not None
            calls = frozenset(self.plan.calls)
            orders = Orders(world.directory, world.armed, self.plan.selection, calls, self.plan.death, self._state)
            return self._tracker, orders

        return lambda: live(target, world.files_of(name), begin, name, wake, resumed, f"{self._seed}/{name}")

    def _unique(self, name: str) -> str:
        unique, count = name, 1
        while unique in self._names:
            count += 1
            unique = f"{name}-{count}"
        self._names.add(unique)
        return unique


def _refuse_unsupported() -> None:
    if not hasattr(os, "fork") or sys.platform == "win32":
        raise UnsupportedPlatform


def _taken_name(target: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> str | None:
    """The life's name from the keywords of a target; one that still waits for a `name` of its own gets it."""
    if "name" not in keywords:
        return None
    try:
        signature = inspect.signature(target)
        waits = "name" in signature.parameters.keys() - signature.bind_partial(*args).arguments.keys()
    except (TypeError, ValueError):  # nobody can tell, or the life will
        waits = False
    return None if waits else keywords.pop("name", None)


def _name_of(target: object) -> str:
    while isinstance(target, functools.partial):
        target = target.func
    name = getattr(target, "__name__", None) or type(target).__name__
    return "life" if name == "<lambda>" else name


def _plain(value: object) -> object:
    """As JSON has it; what JSON doesn't know becomes its `repr`."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v) for v in value]
    return repr(value)
