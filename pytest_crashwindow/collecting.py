"""What the process with the terminal gathers from reports: progress, the summary, the memory of `--lf`."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_PROGRESS_AFTER = 10.0  # seconds without a word


class Collector:
    """Registered in the process that reports to people: the only one, or the controller of xdist."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._session: pytest.Session | None = None
        self._done: dict[str, int] = {}
        """windows that were reported, by sweep"""
        self._known: dict[str, int] = {}
        """windows that will be, as far as is known"""
        self._began = self._told = 0.0
        self._tests = 0
        """tests and windows that were reported, sweeps included"""
        self.sweeps: list[dict[str, Any]] = []

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember whose count of tests grows by each window."""
        self._session = session

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, Any, Any]:
        """A window is one more test than was collected; a sweep's own report has its summary."""
        self._tests += report.when == "teardown"
        if hasattr(report, "crashwindow_record"):
            self._count(report.crashwindow_record)
        if hasattr(report, "crashwindow_sweep"):
            self.sweeps.append(report.crashwindow_sweep)
            self._expect(report.crashwindow_sweep["test"], report.crashwindow_sweep["explored"])
            self._forget_gone_windows(report.crashwindow_sweep)
        told = yield
        if hasattr(report, "crashwindow_record"):
            self._tell_progress()  # not in the middle of the line that the report ends
        return told

    def _count(self, record: dict[str, Any]) -> None:
        test = record["test"]
        self._done[test] = self._done.get(test, 0) + 1
        known = self._known.get(test, record["chosen"]) + len(record["behind"])
        self._expect(test, max(known, self._done[test]))

    def _expect(self, test: str, windows: int) -> None:
        """So many windows of a sweep are tests that nobody collected."""
        if self._session is not None:
            self._session.testscollected += windows - self._known.get(test, 0)
        self._known[test] = windows

    def _tell_progress(self) -> None:
        """A line about windows now and then, in a run that takes long."""
        from .originals import monotonic  # which Windows lacks, as it does windows

        reporter, now = self._config.pluginmanager.get_plugin("terminalreporter"), monotonic()
        self._began = self._began or now
        if reporter is None or now - max(self._began, self._told) < _PROGRESS_AFTER:
            return
        from .report.terminal import progress

        self._told = now
        reporter.ensure_newline()
        if self._config.get_terminal_writer().width_of_current_line:  # dots under xdist
            reporter.write_line("")
        reporter.write_line(progress(sum(self._done.values()), sum(self._known.values()), now - self._began))

    def _forget_gone_windows(self, sweep: dict[str, Any]) -> None:
        """A window that a complete sweep no longer has can't pass any more: `--lf` must not keep it."""
        from .windows import parse

        plugin, cache = self._config.pluginmanager.get_plugin("lfplugin"), getattr(self._config, "cache", None)
        incomplete = sweep["stopped"] or sweep["explored"] != sweep["known"] or not sweep["known"]
        if plugin is None or cache is None or incomplete:
            return
        test = sweep["test"]
        start = f"{test[:-1]}-" if test.endswith("]") else f"{test}["
        now = {f"{start}{window['window']}]" for window in sweep["windows"]}
        for nodeid in cache.get("cache/lastfailed", {}):
            if nodeid.startswith(start) and nodeid not in now and parse(nodeid[len(start) : -1]) is not None:
                plugin.pytest_runtest_logreport(_passed(nodeid))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """`-k` that chose no test and no window is told by the exit status, as it is without sweeps."""
        if session.exitstatus != pytest.ExitCode.OK or not self.sweeps or self._tests != len(self.sweeps):
            return
        from .choosing import DESELECTED

        if all(sweep["stopped"] == DESELECTED and not sweep["windows"] for sweep in self.sweeps):
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def _tell_of_uncollected(self, terminalreporter: pytest.TerminalReporter) -> None:
        """`--collect-only` can't show what only running finds. Said after the ids, which programs may read."""
        items = self._session.items if self._session is not None else []
        sweeps = [item for item in items if item.get_closest_marker("crash_windows") is not None]
        if sweeps:
            from .report.wording import counted

            terminalreporter.write_line(
                f"crashwindow: the windows of {counted(len(sweeps), 'sweep')} are found while running and aren't "
                "collected; --crashwindow-list shows them"
            )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section of the sweeps."""
        if self._config.option.collectonly:
            self._tell_of_uncollected(terminalreporter)
        if not self.sweeps or self._config.option.no_summary:
            return
        from .report.terminal import lines

        terminalreporter.write_sep("=", "crash windows")
        writer = self._config.get_terminal_writer()
        colours = {"good": {"green": True}, "bad": {"red": True}, "other": {"yellow": True}}

        def paint(text: str, tone: str) -> str:
            return writer.markup(text, **colours[tone])

        for line in lines(self.sweeps, self._config.option.verbose > 0, writer.fullwidth, paint):
            terminalreporter.write_line(line)


def _passed(nodeid: str) -> pytest.TestReport:
    location = (nodeid.partition("::")[0], None, nodeid)
    return pytest.TestReport(nodeid, location, {}, "passed", None, "call")
