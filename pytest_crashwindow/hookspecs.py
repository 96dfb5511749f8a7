"""Hooks of this plugin, for conftest files and other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .faults import Fault
    from .probes.base import Probe
    from .windows import Window


@pytest.hookspec
def pytest_crashwindow_faults(config: pytest.Config) -> list[Fault]:  # type: ignore[empty-body]
    """Register faults of your own.

    Each is an instance of a subclass of `pytest_crashwindow.Fault`; it gets a marker `NAME_at` and can be
    swept as `crash_windows(NAME="glob")`.
    """


@pytest.hookspec
def pytest_crashwindow_probes(config: pytest.Config) -> list[Probe]:  # type: ignore[empty-body]
    """Register probes of your own: instances of subclasses of `pytest_crashwindow.Probe`."""


@pytest.hookspec
def pytest_crashwindow_windows(item: pytest.Item, windows: list[Window]) -> None:
    """Filter, add to or reorder the windows of a sweep, in place, before they are run.

    With depth 2 it is called again for the windows that were found behind each window.
    """


@pytest.hookspec
def pytest_crashwindow_fired(item: pytest.Item, window: Window) -> None:
    """Every fault of this window has fired; its world has ended."""


@pytest.hookspec
def pytest_crashwindow_window_result(item: pytest.Item, window: Window, report: pytest.TestReport) -> None:
    """The call report of a window, before it is published; it may be added to."""
