"""`--crashwindow-report`: checks the paths at the start, writes the files at the end.

Registered only where a report is asked for, and only in the process that has the terminal.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from .. import __version__
from .gathering import Gathering
from .json import Document, RunFacts, document

Render = Callable[[Document], str]


def _html() -> Render:
    from .html import render

    return render


def _json() -> Render:
    from .json import render

    return render


def _markdown() -> Render:
    from .markdown import render

    return render


KINDS: dict[str, Callable[[], Render]] = {".html": _html, ".json": _json, ".md": _markdown}
"""suffix -> who writes it, imported when something is written"""


def usable(paths: Iterable[str], directory: Path, source: str) -> list[Path]:
    """The paths, relative ones below `directory`; their folders are made.

    Raises UsageError if one can't be used, with the `source` that they came from.
    """
    return [_usable(directory / given, f"{source}: {given}") for given in paths]


def _usable(path: Path, label: str) -> Path:
    if path.suffix.lower() not in KINDS:
        raise pytest.UsageError(f"{label}: a report's name ends in {' or '.join(KINDS)}, which says what it is")
    if path.is_dir():
        raise pytest.UsageError(f"{label}: is a directory")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{label}: its directory can't be made: {error.strerror}") from None
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise pytest.UsageError(f"{label}: its directory can't be written to")
    return path


class Reports:
    """The plugin that gathers and writes."""

    def __init__(self, config: pytest.Config, paths: Iterable[str], source: str) -> None:
        self._config = config
        self._paths = usable(paths, config.invocation_params.dir, source)
        self._gathering = Gathering()
        self._began = time.time()
        self._written: list[tuple[Path, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what is told of a window or sweep."""
        self._gathering.take(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write, however the run ended."""
        if self._config.option.collectonly:
            return
        doc = document(self._gathering.tests(), self._facts(session, exitstatus))
        self._written = [(path, _write(path, doc)) for path in self._paths]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say where the files are, if they have something in them."""
        for path, problem in self._written:
            shown = os.path.relpath(path, self._config.invocation_params.dir)
            if problem:
                terminalreporter.write_line(f"crash windows: no report in {shown}: {problem}", red=True)
            elif self._gathering.tests():
                terminalreporter.write_line(f"crash windows: report in {shown}")

    def _facts(self, session: pytest.Session, exitstatus: int) -> RunFacts:
        stopped = str(session.shouldfail or session.shouldstop or "")
        if not stopped and exitstatus == pytest.ExitCode.INTERRUPTED:
            stopped = "interrupted"
        return RunFacts(
            started=datetime.fromtimestamp(self._began, UTC).isoformat(timespec="seconds"),
            seconds=round(time.time() - self._began, 3),
            exitstatus=int(exitstatus),
            interrupted=stopped,
            versions={
                "pytest-crashwindow": __version__,
                "pytest": pytest.__version__,
                "python": platform.python_version(),
            },
            command=[str(argument) for argument in self._config.invocation_params.args],
        )


def _write(path: Path, doc: Any) -> str:
    """In one piece; what went wrong, or nothing."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        text = KINDS[path.suffix.lower()]()(doc)
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        return str(error.strerror)
    return ""
