"""Hooks of this plugin, for conftest files and other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .faults import Fault
    from .probes.base import Probe


@pytest.hookspec
def pytest_crashwindow_faults(config: pytest.Config) -> list[Fault]:  # type: ignore[empty-body]
    """Register faults of your own.

    Each is an instance of a subclass of `pytest_crashwindow.Fault`; it gets a marker `NAME_at` and can be
    swept as `crash_windows(NAME="glob")`.
    """


@pytest.hookspec
def pytest_crashwindow_probes(config: pytest.Config) -> list[Probe]:  # type: ignore[empty-body]
    """Register probes of your own: instances of subclasses of `pytest_crashwindow.Probe`."""
