"""Runs the whole corpus once for each way of running it; the tests look at their program's part."""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

HOLES = Path(__file__).parent / "holes"
SHARED = ("tools", "leases")
NAMES = sorted(path.stem for path in HOLES.glob("*.py") if path.stem not in SHARED)

WAYS = {
    "alone": ["-p", "no:xdist", "-p", "no:randomly"],
    "two workers": ["-n2", "-p", "no:randomly"],
    "random order": ["-p", "no:xdist", "-p", "randomly", "--randomly-seed=7"],
}

# The inner test file: each program twice, as one sweep for its broken and one for its correct form.
TESTS = """
import importlib
import pytest

def sweep(name):
    case = importlib.import_module(name)

    @pytest.mark.crash_windows(**case.MARKER)
    @pytest.mark.parametrize("form", ["broken", "correct"])
    def test(crashwindow, tmp_path, form):
        case.scenario(crashwindow, tmp_path, getattr(case, form))

    return test

for name in {names!r}:
    globals()["test_" + name] = sweep(name)
"""

REPORTS = """
import json, pathlib

def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reports())

class Reports:
    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed:
            told = {"id": report.nodeid, "outcome": report.outcome, "properties": dict(report.user_properties)}
            with open("reports", "a") as file:
                print(json.dumps(told | {"text": report.longreprtext}), file=file)
"""


@dataclass
class Sweep:
    """What one sweep of the corpus reported."""

    outcome: str = "missing"
    """its own"""
    text: str = ""
    windows: dict[str, str] = field(default_factory=dict)
    """window id -> outcome"""
    verdicts: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> set[str]:
        return {window for window, outcome in self.windows.items() if outcome != "passed"}


Sweeps = dict[tuple[str, str], Sweep]


@cache
def case(name: str) -> ModuleType:
    """A program of the corpus; only its data is used here."""
    sys.path.insert(0, str(HOLES))
    try:
        spec = importlib.util.spec_from_file_location(f"corpus_{name}", HOLES / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(HOLES))
    return module


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory):
    """`corpus(way)`: the reports of all sweeps, run that way, once for all workers of xdist."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    @cache
    def corpus(way: str) -> Sweeps:
        directory = shared / f"corpus {way}"
        with open(shared / f"corpus {way} lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (directory / "reports").exists():
                run(way, directory)
        return read((directory / "reports").read_text())

    def run(way: str, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        (directory / "test_it.py").write_text(TESTS.format(names=NAMES))
        (directory / "conftest.py").write_text(REPORTS)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", *WAYS[way]]
        options = ["-o", f"pythonpath={HOLES}", f"--basetemp={directory / 'tmp'}"]
        ended = subprocess.run([*command, *options], cwd=directory, capture_output=True, text=True, check=False)
        assert (directory / "reports").exists(), ended.stdout + ended.stderr

    return corpus


def read(text: str) -> Sweeps:
    sweeps: Sweeps = {}
    for line in text.splitlines():
        told = json.loads(line)
        test, _, rest = told["id"].removeprefix("test_it.py::test_").removesuffix("]").partition("[")
        form, _, window = rest.partition("-")
        sweep = sweeps.setdefault((test, form), Sweep())
        if window:
            assert window not in sweep.windows, f"{told['id']} was reported twice"
            sweep.windows[window] = told["outcome"]
            sweep.verdicts[window] = told["properties"]["crashwindow_verdict"]
            if told["outcome"] != "passed":
                sweep.text += told["text"]
        else:
            sweep.outcome = told["outcome"]
            sweep.text += told["text"]
    return sweeps
