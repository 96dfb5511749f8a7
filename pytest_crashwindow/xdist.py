"""What pytest-xdist needs: a directory that the workers of a run share, and a sign to stop.

The hooks of the controller are registered only where xdist is installed.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from .sharing import STOP, lost_windows

_INPUT = "crashwindow_directory"


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is one of xdist's workers."""
    return hasattr(config, "workerinput")


def shared_directory(config: pytest.Config) -> Path | None:
    """The directory that this worker shares with the others; None if it works alone.

    A worker on another machine doesn't see it; sweeps aren't split then.
    """
    given = getattr(config, "workerinput", {}).get(_INPUT)
    if given is None or not Path(given).is_dir():
        return None
    return Path(given)


def shards(config: pytest.Config) -> int:
    """Among how many items a sweep is split."""
    return int(config.workerinput["workercount"]) if shared_directory(config) else 1  # type: ignore[attr-defined]


class Controller:
    """Hooks for the controlling process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._directory: Path | None = None
        self._hidden = 0
        self._ids: frozenset[str] = frozenset()
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember whose counts and stops are meant."""
        self._session = session

    def pytest_configure_node(self, node: Any) -> None:
        """Hand the directory out."""
        node.workerinput[_INPUT] = str(self._shared())

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Shards are items to xdist and nothing to people: they don't count as collected."""
        self._hidden = sum("~" in nodeid.rpartition("[")[2] for nodeid in ids)
        self._ids = frozenset(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the shards out of the count as soon as xdist has made it, and say what a dead worker ran."""
        if str(report.when) == "???" and self._directory is not None:  # how xdist reports that a worker died
            windows = ", ".join(lost_windows(self._directory))
            whole = self._without_shard(report.nodeid)
            text = str(report.longrepr).replace(report.nodeid, whole)
            report.longrepr = f"{text}\nwindows that it was running: {windows}" if windows else text
            report.nodeid = whole
        if self._hidden and self._session is not None:
            self._session.testscollected -= self._hidden
            self._hidden = 0

    @pytest.hookimpl(trylast=True, specname="pytest_runtest_logreport")
    def pytest_crashwindow_stop_everywhere(self) -> None:
        """A worker in the middle of a sweep looks only at its own failures, and at this file."""
        session = self._session
        if self._directory is not None and session is not None and (session.shouldfail or session.shouldstop):
            (self._directory / STOP).touch()

    def pytest_unconfigure(self) -> None:
        """Remove the directory."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def _without_shard(self, nodeid: str) -> str:
        """The id of the sweep, if this is one of the items that share it: `test_x` of `test_x[~1]`."""
        base, bracket, label = nodeid.rpartition("[")
        parameters, _, shard = label.removesuffix("]").rpartition("-")
        whole = f"{base}[{parameters}]" if parameters else base
        return whole if bracket and shard.startswith("~") and whole in self._ids else nodeid

    def _shared(self) -> Path:
        if self._directory is None:
            factory = getattr(self._config, "_tmp_path_factory", None)
            base = factory.getbasetemp() if factory is not None else None
            self._directory = Path(tempfile.mkdtemp(prefix="crashwindow-", dir=base))
        return self._directory
