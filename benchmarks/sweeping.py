"""A sweep of the sample app's commit and delivery, beside other ways to try the same windows.

Each way does the same for each window: run the scenario in a process that dies there, run it again in
another, check what must hold. The sweep's time is that of its tests as a whole, controls included.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import scenario
from .measuring import table

ROUNDS = 2  # in each of them all ways are measured one after another, as machines have slow and fast moments

_TEST = """
import pytest
from benchmarks import scenario

@pytest.fixture
def home(tmp_path):
    scenario.prepare(tmp_path / "home")
    return tmp_path / "home"

@pytest.mark.crash_windows(scenario.POINTS)
def test_delivered_once(crashwindow, home):
    crashwindow.supervise(scenario.work, home)
    assert scenario.holds(home)
"""

_BY_HAND = """
from pathlib import Path
from benchmarks import sweeping

def test_all_windows(tmp_path):
    Path("seconds").write_text(str(sweeping.loop(tmp_path, {windows})))
"""

_WATCH = """
import json, time
from pathlib import Path
import pytest

SWEPT = {{"windows": [], "outcomes": [], "seconds": 0.0}}

def pytest_crashwindow_windows(windows):
    del windows[{most}:]
    SWEPT["windows"] = [str(window).removesuffix(":crash") for window in windows]

@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    began = time.perf_counter()
    ran = yield
    SWEPT["seconds"] += time.perf_counter() - began
    return ran

def pytest_runtest_logreport(report):
    if hasattr(report, "crashwindow_sweep"):
        SWEPT["outcomes"].append(report.outcome)

def pytest_unconfigure():
    Path("swept.json").write_text(json.dumps(SWEPT))
"""


def compare(windows: int, fresh: int) -> None:
    """`windows` are swept by the plugin and by hand; `fresh` of them by fresh interpreters, and scaled."""
    count, each, some = 0, -(-windows // ROUNDS), -(-fresh // ROUNDS)
    swept = by_hand = interpreters = pytests = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            ids, seconds = _by_plugin(Path(folder), each)
            few = ids[:: max(1, len(ids) // some)][:some]
            count += len(ids)
            swept += seconds
            by_hand += _by_hand(Path(folder), ids)
            interpreters += _by_interpreters(Path(folder), few) / len(few) * len(ids)
            pytests += _by_pytests(Path(folder), few) / len(few) * len(ids)
    measured = f"{some * ROUNDS} measured"
    rows = [
        ("by hand, a loop in a test: fork, run, SIGKILL, fork, recover", by_hand),
        ("the plugin's sweep, each window a test report", swept),
        (f"two bare interpreters for each window: run, recover ({measured})", interpreters),
        (f"the same test, a fresh interpreter with pytest for each window ({measured})", pytests),
    ]
    table(f"{count} crash windows of commit and delivery", rows, "s")
    print(f"  A fresh interpreter for each window takes {pytests / swept:.1f} times as long as the sweep.")


def _by_plugin(folder: Path, windows: int) -> tuple[list[str], float]:
    (folder / "test_swept.py").write_text(_TEST)
    (folder / "conftest.py").write_text(_WATCH.format(most=windows))
    _pytest(folder, "test_swept.py")
    (folder / "conftest.py").unlink()
    swept = json.loads((folder / "swept.json").read_text())
    assert swept["outcomes"] == ["passed"]
    return swept["windows"], swept["seconds"]


def _by_pytests(folder: Path, windows: list[str]) -> float:
    began = time.perf_counter()
    for window in windows:
        _pytest(folder, f"test_swept.py::test_delivered_once[{window}:crash]")
    return time.perf_counter() - began


def _pytest(folder: Path, what: str, *more: str) -> None:
    others = ("randomly", "asyncio", "anyio", "xdist")
    options = ["-q", *(part for name in others for part in ("-p", f"no:{name}"))]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, what, *more],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        stdout=subprocess.PIPE,
        check=True,
    )


def _by_hand(folder: Path, windows: list[str]) -> float:
    (folder / "test_by_hand.py").write_text(_BY_HAND.format(windows=windows))
    _pytest(folder, "test_by_hand.py", "-p", "no:crashwindow")
    return float((folder / "seconds").read_text())


def loop(folder: Path, windows: list[str]) -> float:
    """What one would write by hand into a test; the seconds it takes."""
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
    scenario.prepare(pristine)
    run = [sys.executable, "-m", "benchmarks.scenario", str(home)]
    began = time.perf_counter()
    for window in windows:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(pristine, home)
        assert subprocess.run([*run, window]).returncode == -9
        assert subprocess.run(run).returncode == 0
        assert scenario.holds(home)
    return time.perf_counter() - began
