"""One run's engine: what its tests share. Made when a test first uses the plugin."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import faults as _faults
from . import probes as _probes
from .arming import Faults
from .audit_events import CPYTHON_EVENTS
from .choosing import whole_id
from .connections import OpenedAt
from .errors import BadOption, CrashWindowError
from .faults import Fault
from .fixture import CrashWindow
from .planning import plan_of
from .points import ENDS
from .probes.base import Probe
from .protocol import CRASHWINDOW, TIMEOUT, Protocol
from .settings import Settings
from .sharing import Alone, Shared, Sharing
from .sweep import MARKER
from .sweep_protocol import SweepProtocol
from .windows import Window, parse
from .world import World
from .xdist import shared_directory


class Engine:
    """Faults, probes, known points and a directory for this run."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._config, self.settings = config, settings
        hook = config.hook
        self.registered: list[Fault] = _flat(hook.pytest_crashwindow_faults(config=config))
        """the faults of other plugins"""
        try:
            self.faults = Faults([*_faults.BUILT_IN, *self.registered])
        except BadOption as error:
            raise pytest.UsageError(str(error)) from None
        self.probes: list[Probe] = [
            *_probes.BUILT_IN,
            *_flat(hook.pytest_crashwindow_probes(config=config)),
        ]
        self._refuse_unknown_probes()
        self._literals: set[str] | None = None
        self._count = 0
        self._opened = OpenedAt()
        self.world: World | None = None
        """in a world's process: that world"""
        self.only_window = self._only_window()
        """the one window that `--crashwindow-window` asks for"""

    def protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Run an item."""
        self._opened.watch()
        try:
            self._run(item, nextitem)
        finally:
            self._opened.forget()

    def _run(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        if item.get_closest_marker(MARKER) is None:
            Protocol(self, item, nextitem).run()
        else:
            SweepProtocol(self, item, nextitem, self._sharing(item)).run()

    def _sharing(self, item: pytest.Item) -> Sharing:
        shared = shared_directory(self._config)
        return Alone() if shared is None else Shared(shared, whole_id(item))

    def fixture(self, item: pytest.Item, tmp_path: Path, base: Path) -> Iterator[CrashWindow]:
        """The fixture's life in the pytest process. `base` is pytest's directory for temporary files."""
        __tracebackhide__ = True
        self._count += 1
        directory = base / f"crashwindow-{self._count}"
        try:
            plan = plan_of(item, self.settings, self.faults, self.probes)
        except CrashWindowError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        crashwindow = CrashWindow(directory, plan, self._opened, (item.path, self._config.rootpath))
        crashwindow.state(tmp_path)
        item.stash[CRASHWINDOW] = crashwindow
        try:
            yield crashwindow
        finally:
            crashwindow.close()
            shutil.rmtree(directory, ignore_errors=True)

    def known_points(self, calls: list[str]) -> set[str]:
        """Every point name that the project is known to have."""
        if self._literals is None:
            from .known import imported_points, literal_points

            skip = self._config.getini("norecursedirs")
            self._literals = {*literal_points(self._config.rootpath, skip), *imported_points()}
        probed = {call for probe in self.probes for call in probe.calls}
        return self._literals | CPYTHON_EVENTS | {f"{call}:{end}" for call in probed | set(calls) for end in ENDS}

    def takes_timer(self, item: pytest.Item, settings: Any) -> bool:
        """Take note of pytest-timeout's setting; True in a world, whose limit is kept from outside."""
        item.stash[TIMEOUT] = settings
        if self.world is None:
            return False
        self.world.limit(settings.timeout)
        return True

    def debugging(self) -> None:
        """A debugger was entered: from now on nobody is in a hurry."""
        if self.world is not None:
            self.world.limit(None)

    def _only_window(self) -> Window | None:
        text = self.settings.window
        if text is None:
            return None
        window, source = parse(text), self.settings.sources["window"]
        if window is None:
            raise pytest.UsageError(f"{source}: {text!r} is no window id; one looks like shop.order.committed+1:crash")
        if self.settings.controls_only:
            raise pytest.UsageError(f"{source} asks for a window, and {self.settings.controls_only} for none")
        for step in window.steps:
            if step.fault not in self.faults:
                raise pytest.UsageError(f"{source}: no fault {step.fault!r}; there are {', '.join(self.faults.names)}")
        return window

    def _refuse_unknown_probes(self) -> None:
        names = [probe.name for probe in self.probes]
        for name in self.settings.probes or ():
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = f"; did you mean {near[0]!r}?" if near else "."
                source = self.settings.sources["probes"]
                raise pytest.UsageError(f"{source}: unknown probe {name!r}{hint} There are: {', '.join(names)}")


def _flat(lists: list[list[Any]]) -> list[Any]:
    return [one for some in lists for one in some or ()]
