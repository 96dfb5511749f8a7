"""What the tests of attached calls share: a tracker that remembers, and modules made for one test."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_crashwindow.faults.base import Action
from pytest_crashwindow.installing import Installed, install
from pytest_crashwindow.tracker import Tracker


class Remembering(Tracker):
    """Passes points as if it were in a life, and does at each what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.active = True
        self.seen: list[tuple[str, tuple[object, ...]]] = []
        self.at: dict[str, BaseException | Action] = {}

    def passed(
        self,
        point: str,
        arguments: Sequence[object] = (),
        of_cpython: bool = False,
        later: list[float] | None = None,
    ) -> Action | None:
        self.seen.append((point, tuple(arguments)))
        action = self.at.get(point)
        if isinstance(action, BaseException):
            raise action
        return action

    def complain(self, text: str) -> None:
        self.complaints.append(text)

    def rebound(self, call: str, names: int) -> None:
        """Tests look at what was attached instead."""

    def points(self) -> list[str]:
        """The points passed so far, without the module's name; and forgets them."""
        seen, self.seen = self.seen, []
        return [point.partition(":")[2] for point, _ in seen]


def both(*calls: str) -> list[str]:
    """Enter and exit of calls that are made one after the other."""
    return [f"{call}:{end}" for call in calls for end in ("enter", "exit")]


class Shop:
    """A directory for modules, the first of which is `shop`, and calls attached to them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.tracker = Remembering()
        self._installed: list[Installed] = []
        self._modules = set(sys.modules)

    def __call__(self, source: str) -> ModuleType:
        """The module `shop` with this source."""
        self.write("shop", source)
        return importlib.import_module("shop")

    def write(self, name: str, source: str) -> None:
        """A module that can be imported."""
        path = self.directory.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in list(path.relative_to(self.directory).parents)[:-1]:
            (self.directory / package / "__init__.py").touch()
        path.write_text(textwrap.dedent(source))
        importlib.invalidate_caches()

    def attach(self, *calls: str, probes: Sequence[Any] = ()) -> Installed:
        self._installed.append(install(self.tracker, probes, calls))
        return self._installed[-1]

    def points(self) -> list[str]:
        return self.tracker.points()

    def arguments(self) -> list[tuple[object, ...]]:
        """The arguments at each point passed so far."""
        return [arguments for _, arguments in self.tracker.seen]

    def close(self) -> None:
        for installed in reversed(self._installed):
            installed.uninstall()
        for name in set(sys.modules) - self._modules:
            if name.startswith("shop"):
                del sys.modules[name]
