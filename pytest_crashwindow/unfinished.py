"""Sweeps that the run didn't let come to their end: Ctrl-C, `pytest.exit`, the death of a worker.

A sweep's own report comes after its windows, so of these there are only windows. What they know of the sweep
is put before the section of the sweeps is printed.
"""

from __future__ import annotations

from typing import Any

import pytest


class Unfinished:
    """Registered beside the collector that it hands its sweeps to."""

    def __init__(self, sweeps: list[dict[str, Any]]) -> None:
        self._sweeps = sweeps
        self._windows: dict[str, dict[str, dict[str, Any]]] = {}
        """test -> window -> record, of the sweeps that haven't reported"""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep windows until their sweep speaks for them."""
        if hasattr(report, "crashwindow_record"):
            record = report.crashwindow_record
            self._windows.setdefault(record["test"], {})[record["window"]] = record
        if hasattr(report, "crashwindow_sweep"):
            self._windows.pop(report.crashwindow_sweep["test"], None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self) -> None:
        """Speak for the others."""
        if self._windows:
            from .report.gathering import unfinished

            self._sweeps += [unfinished(test, list(windows.values())) for test, windows in self._windows.items()]
            self._windows.clear()
