"""Tests replace functions of the standard library; the plugin goes on with those that there were."""

from __future__ import annotations

from .conftest import Run
from .sweeping import outcomes

PATCHED = """
import sys, pytest

NAMES = {names}

def fails(*args, **kwargs):
    raise RuntimeError("patched")

def work():
    sys.audit("work.a")

@pytest.mark.parametrize("name", NAMES)
@pytest.mark.crash_at("work.a")
def test_after_a_life(crashwindow, monkeypatch, name):
    life = crashwindow.run(work)
    monkeypatch.setattr(name, fails)
    assert life.crashed
    crashwindow.observe("life", life.hits)
    crashwindow.effects.record("seen", life.name)
    assert crashwindow.effects.keys("seen") == ["work"]

@pytest.mark.parametrize("name", NAMES)
@pytest.mark.crash_windows("work.a")
def test_in_a_sweep(crashwindow, monkeypatch, name):
    monkeypatch.setattr(name, fails)
    crashwindow.supervise(work)
    crashwindow.same_as_control(1)
"""

# fmt: off
NAMES = [
    "builtins.open", "io.open", "os.open", "os.read", "os.write", "os.close", "os.pipe", "os.pread", "os.lseek",
    "os.listdir", "os.readlink", "os.stat", "os.lstat", "os.mkdir", "os.makedirs", "os.rename", "os.replace",
    "os.remove", "os.unlink", "os.fsync", "os.getcwd", "os.path.exists", "os.path.realpath", "pathlib.Path.open",
    "pathlib.Path.read_bytes", "pathlib.Path.write_bytes", "pathlib.Path.read_text", "pathlib.Path.write_text",
    "pathlib.Path.exists", "pathlib.Path.mkdir", "pathlib.Path.replace", "pathlib.Path.unlink", "shutil.copytree",
    "shutil.rmtree", "time.time", "time.sleep", "time.monotonic", "time.monotonic_ns", "time.perf_counter",
    "random.random", "random.seed", "json.dumps", "json.loads", "pickle.dumps", "pickle.loads", "os.fork",
    "os.waitpid", "os.getpid", "os.kill", "os.killpg", "select.poll", "sys.exit", "threading.Thread",
    "subprocess.Popen",
]
# fmt: on


def test_functions_that_a_test_replaces_are_not_missed(run: Run) -> None:
    result = run(PATCHED.format(names=NAMES), "-v", "--tb=line")
    failed = [name for name, outcome in outcomes(result).items() if outcome != "PASSED"]
    assert failed == []
    result.assert_outcomes(passed=len(NAMES) * 3)


PATCHED_BY_A_FIXTURE = """
import os, signal, sys, pytest
from unittest import mock

def work(file):
    file.write_text(file.read_text() + "x")
    sys.audit("work.a")
    sys.audit("work.b")

@pytest.fixture
def file(tmp_path):
    (tmp_path / "file").write_text("")
    return tmp_path / "file"

@pytest.fixture(params=["signal.signal", "os.path.isfile", "os._exit", "time.sleep"])
def patched(request, file, crashwindow):
    def asked(*args):
        crashwindow.effects.record("asked")
        return False

    with mock.patch(request.param, asked):
        yield

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, patched, file):
    assert file.read_text() == ""
    crashwindow.supervise(work, file)
    assert len(file.read_text()) == 1 + bool(crashwindow.window)
    assert crashwindow.effects.count("asked") == 0
"""


def test_functions_that_a_fixture_replaces_are_not_missed(run: Run) -> None:
    run(PATCHED_BY_A_FIXTURE).assert_outcomes(passed=4 * 3)


FROZEN = """
import sys, threading, time, pytest
from freezegun import freeze_time

@pytest.fixture
def frozen():
    with freeze_time("2020-02-02"):
        yield

def work(file):
    sys.audit("work.a")
    file.write_text(time.strftime("%Y"))
    sys.audit("work.b")
"""


def test_sweeps_with_frozen_time_are_as_others(run: Run) -> None:
    source = (
        FROZEN
        + """
@pytest.mark.crash_windows("work.*", depth=2)
def test_by_fixture(crashwindow, tmp_path, frozen):
    crashwindow.supervise(work, tmp_path / "year")
    assert (tmp_path / "year").read_text() == "2020"

@freeze_time("2020-02-02")
@pytest.mark.crash_windows("work.*", depth=2)
def test_by_decorator(crashwindow, tmp_path):
    crashwindow.supervise(work, tmp_path / "year")
    assert (tmp_path / "year").read_text() == "2020"
"""
    )
    run(source).assert_outcomes(passed=2 * (2 + 4 + 1))


def test_limits_hold_where_time_is_frozen(run: Run) -> None:
    source = (
        FROZEN
        + """
def test_life(crashwindow, frozen):
    assert crashwindow.start(threading.Event().wait).wait().outcome == "timed out"

@pytest.mark.timeout(1)
def test_body(crashwindow, frozen):
    threading.Event().wait()
"""
    )
    result = run(source, "-o", "crashwindow_life_timeout=0.5")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["Timeout: the test body took longer than its limit of 1 s*"])
