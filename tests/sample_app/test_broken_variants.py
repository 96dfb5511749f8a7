"""The plugin's sweep finds each broken variant in the windows that it declares and in no other; its twin passes.

All of them are swept in one run of pytest of their own, because a sweep that finds something fails.
"""

from __future__ import annotations

import fcntl
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sample_app import broken

from . import broken_table
from .broken_scenarios import SCENARIOS, variant_and_twin

ROOT = Path(__file__).parents[2]

# The inner test file: each variant twice, in its broken and in its correct form.
INNER = """
import tempfile
from pathlib import Path

import pytest

from tests.sample_app.broken_scenarios import SCENARIOS, World, variant_and_twin

@pytest.fixture
def place(crashwindow, tmp_path):
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="sample-app-", dir=memory if memory.is_dir() else tmp_path) as name:
        yield crashwindow.state(Path(name))

@pytest.fixture
def world(place, request):
    world = World(place)
    request.param.setup(world)
    return world

def sweep(name):
    scenario = SCENARIOS[name]
    _, variant, twin = variant_and_twin(name)

    @pytest.mark.crash_windows(**scenario.marker)
    @pytest.mark.parametrize("part", [variant, twin], ids=["broken", "twin"])
    @pytest.mark.parametrize("world", [scenario], indirect=True, ids=[pytest.HIDDEN_PARAM])
    def test(crashwindow, world, part):
        scenario.play(crashwindow, world, part)

    return test

for name in SCENARIOS:
    globals()["test_" + name] = sweep(name)
"""

REPORTS = """
import json

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
class Swept:
    """What the inner run said of one form of one variant."""

    outcome: str = "missing"
    windows: dict[str, str] = field(default_factory=dict)
    """window -> verdict"""
    text: str = ""

    @property
    def failed(self) -> dict[str, str]:
        return {window: verdict for window, verdict in self.windows.items() if verdict != "passed"}


Sweeps = dict[tuple[str, str], Swept]


@pytest.fixture(scope="session")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> Sweeps:
    """The inner run: once, whichever worker comes first; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "broken"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "reports").exists():
            _run(shared)
    return _read((shared / "reports").read_text())


def _run(folder: Path) -> None:
    (folder / "test_it.py").write_text(INNER)
    (folder / "conftest.py").write_text(REPORTS)
    workers = ["-n2"] if importlib.util.find_spec("xdist") else []
    # The root is that of the project, whose sources declare the points.
    options = [
        *workers,
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        f"--rootdir={ROOT}",
        "--import-mode=importlib",
    ]
    command = [sys.executable, "-m", "pytest", *options, "-o", f"pythonpath={ROOT}", f"--basetemp={folder / 'tmp'}"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (folder / "reports").exists(), ended.stdout + ended.stderr


def _read(text: str) -> Sweeps:
    found: Sweeps = {}
    for line in text.splitlines():
        told = json.loads(line)
        test, _, rest = told["id"].partition("::test_")[2].removesuffix("]").partition("[")
        form, _, window = rest.partition("-")
        swept = found.setdefault((test, form), Swept())
        swept.text += told["text"]
        if window:
            swept.windows[window] = told["properties"]["crashwindow_verdict"]
        else:
            swept.outcome = told["outcome"]
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_plugin_finds_the_variant_where_it_says_and_nowhere_else(sweeps: Sweeps, name: str) -> None:
    module, _, _ = variant_and_twin(name)
    swept = sweeps[name, "broken"]
    assert swept.failed == dict.fromkeys(module.FAILS_AT, "failed"), swept.text
    assert swept.outcome == "failed"


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_correct_twin_is_green_in_every_window(sweeps: Sweeps, name: str) -> None:
    swept = sweeps[name, "twin"]
    assert (swept.outcome, swept.failed) == ("passed", {}), swept.text
    assert swept.windows


def test_every_variant_is_swept() -> None:
    assert set(broken.VARIANTS) == set(SCENARIOS)
    for name in broken.VARIANTS:
        module = importlib.import_module(f"sample_app.broken.{name}")
        assert module.__doc__
        assert "Models " in module.__doc__


def test_the_page_about_the_variants_is_up_to_date() -> None:
    assert broken_table.PAGE.read_text(encoding="utf-8") == broken_table.text(), (
        "python tests/sample_app/broken_table.py"
    )
