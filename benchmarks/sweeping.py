"""A sweep of the sample app's commit and delivery, beside what one would write by hand.

Each way tries the same windows of the same scenario: run it in a process that dies at the window, run
it again in another, check what must hold.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from . import scenario
from .measuring import table

_TEST = """
import json, time
from pathlib import Path
import pytest
from benchmarks import scenario

TIMES = []

class Watch:
    def pytest_crashwindow_windows(self, windows):
        del windows[{windows}:]
        TIMES.append([str(w) for w in windows])
        TIMES.append(time.perf_counter())

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "crashwindow_sweep") and TIMES:
            windows, began = TIMES
            record = {{"windows": windows, "seconds": time.perf_counter() - began, "outcome": report.outcome}}
            Path("times.json").write_text(json.dumps(record))

@pytest.fixture
def home(tmp_path, request):
    request.config.pluginmanager.register(Watch())
    scenario.prepare(tmp_path / "home")
    return tmp_path / "home"

@pytest.mark.crash_windows("sample_app.*")
def test_delivered_once(crashwindow, home):
    crashwindow.supervise(scenario.work, home)
    assert scenario.holds(home)
"""


def compare(windows: int, fresh: int) -> None:
    """`windows` are swept by the plugin and by hand; `fresh` of them by fresh interpreters, and scaled."""
    with tempfile.TemporaryDirectory() as folder:
        ids, swept = _by_plugin(Path(folder), windows)
        by_hand = _by_hand(Path(folder), ids)
        some = ids[:: max(1, len(ids) // fresh)][:fresh]
        interpreters = _by_interpreters(Path(folder), some) / len(some) * len(ids)
        pytests = _by_pytests(Path(folder), some) / len(some) * len(ids)
    rows = [
        ("by hand: fork, run, SIGKILL, fork, recover", by_hand),
        ("the plugin's sweep, each window a test report", swept),
        (f"bare fresh interpreters, one for each run ({len(some)} windows measured)", interpreters),
        (f"a fresh interpreter with pytest for each window ({len(some)} measured)", pytests),
    ]
    table(f"{len(ids)} crash windows of commit and delivery", rows, "s")


def _by_plugin(folder: Path, windows: int) -> tuple[list[str], float]:
    (folder / "test_swept.py").write_text(textwrap.dedent(_TEST.format(windows=windows)))
    _pytest(folder, "test_swept.py")
    record = json.loads((folder / "times.json").read_text())
    assert record["outcome"] == "passed"
    return [window.removesuffix(":crash") for window in record["windows"]], record["seconds"]


def _by_pytests(folder: Path, windows: list[str]) -> float:
    began = time.perf_counter()
    for window in windows:
        _pytest(folder, f"test_swept.py::test_delivered_once[{window}:crash]")
    return time.perf_counter() - began


def _pytest(folder: Path, what: str) -> None:
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:asyncio", "-p", "no:xdist"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, what],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        check=True,
    )


def _by_hand(folder: Path, windows: list[str]) -> float:
    pristine, home = folder / "pristine", folder / "home"
    scenario.prepare(pristine)
    began = time.perf_counter()
    for window in windows:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(pristine, home)
        assert _in_fork(home, window) == -9
        assert _in_fork(home) == 0
        assert scenario.holds(home)
    return time.perf_counter() - began


def _in_fork(home: Path, window: str | None = None) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            if window is not None:
                sys.addaudithook(scenario.die_at(window))
            scenario.work(home)
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _by_interpreters(folder: Path, windows: list[str]) -> float:
    pristine, home = folder / "pristine", folder / "home"
    run = [sys.executable, "-m", "benchmarks.scenario", str(home)]
    began = time.perf_counter()
    for window in windows:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(pristine, home)
        assert subprocess.run([*run, window]).returncode == -9
        assert subprocess.run(run).returncode == 0
        assert scenario.holds(home)
    return time.perf_counter() - began
