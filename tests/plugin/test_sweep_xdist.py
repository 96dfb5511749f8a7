"""Under xdist the windows of a sweep spread, and ids and verdicts are those without it."""

from __future__ import annotations

import re

import pytest

from .sweeping import OF_WORK, WORK, outcomes, section

pytest.importorskip("xdist")

SWEEPS = """
import os, sys, pytest

def work(n):
    for point in range(n):
        sys.audit(f"work.{point}")

@pytest.mark.crash_windows("work.*")
@pytest.mark.parametrize("n", [1, 12])
def test_work(crashwindow, n):
    life = crashwindow.run(work, n)
    assert not life.crashed or int(life.hits[-1][5:].partition("+")[0]) % 4

@pytest.mark.crash_windows("work.*", depth=2)
def test_deep(crashwindow):
    crashwindow.supervise(work, 3)

@pytest.mark.xfail
@pytest.mark.crash_windows("work.*")
def test_known(crashwindow):
    assert not crashwindow.run(work, 2).crashed

@pytest.mark.crash_windows("work.*")
def test_control(crashwindow):
    crashwindow.run(work, 2)
    assert 0

@pytest.mark.crash_windows("none.*")
def test_no_point(crashwindow):
    crashwindow.run(work, 2)

@pytest.mark.crash_windows("work.*")
def test_skipped(crashwindow):
    pytest.skip("not here")

def test_plain():
    pass
"""
WAYS = {
    "one": ["-n1"],
    "two": ["-n2"],
    "four": ["-n4"],
    "loadfile": ["-n2", "--dist=loadfile"],
    "worksteal": ["-n3", "--dist=worksteal"],
    "two again": ["-n2"],
}


def run(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:asyncio", "-v", *args)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], dict[str, str]]:
    """What pytest said without workers, by source; filled as it is asked for."""
    return {}


@pytest.mark.parametrize("way", WAYS)
def test_reports_and_verdicts_are_those_without_workers(
    pytester: pytest.Pytester, alone: dict[str, dict[str, str]], way: str
) -> None:
    pytester.makepyfile(test_it=SWEEPS)
    if SWEEPS not in alone:
        alone[SWEEPS] = outcomes(run(pytester, "-p", "no:xdist"))
        assert len(alone[SWEEPS]) == 1 + 12 + 2 + (3 + 9) + 1 + 2 + 1 + 4
    result = run(pytester, *WAYS[way])
    assert outcomes(result) == alone[SWEEPS]
    counted = re.findall(r"(\d+) (passed|failed|xfailed|skipped)", result.outlines[-1])
    assert sum(int(n) for n, _ in counted) == len(alone[SWEEPS])


def test_the_windows_of_one_sweep_spread_over_the_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=SWEEPS)
    result = run(pytester, "-n2", "-k", "test_work and 12", "--dist=load")
    workers = re.findall(r"^\[(gw\d)\] .* test_it.py::test_work\[12-", result.stdout.str(), re.MULTILINE)
    assert set(workers) == {"gw0", "gw1"}


def test_shards_are_neither_counted_nor_seen(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=WORK)
    result = run(pytester, "-n3")
    assert "~" not in result.stdout.str()
    assert outcomes(result) == OF_WORK
    assert re.search(r"\[100%\] \w+ test_it.py::test_work\s*$", result.stdout.str(), re.MULTILINE)
    assert section(result)[-1] == "1 sweep: 3 windows exist, 3 explored, 3 fired, 2 passed (passed: crash 2/3)"


def test_the_sweep_is_reported_after_its_windows(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=WORK)
    assert list(outcomes(run(pytester, "-n2")))[-1] == "test_work"


def test_last_failed_and_pasted_ids(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=WORK)
    window = "test_work[work.b+1:crash]"
    run(pytester, "-n2")
    assert outcomes(run(pytester, "-n2", "--lf")) == {window: "FAILED"}
    assert outcomes(run(pytester, "-n2", f"test_it.py::{window}")) == {window: "FAILED"}
    assert set(outcomes(run(pytester, "-n2", "-k", "work.b"))) == {window, "test_work"}


def test_x_stops_every_worker(pytester: pytest.Pytester) -> None:
    source = SWEEPS.replace("[1, 12]", "[200]").replace("% 4", "< 0")
    pytester.makepyfile(test_it=source)
    result = run(pytester, "-n2", "-x", "-k", "test_work")
    assert len(outcomes(result)) < 60
    assert result.ret == 2 or result.ret == 1


KILLED = """
import os, signal, sys, pytest

def work():
    for n in range(6):
        sys.audit(f"work.{n}")

@pytest.fixture
def worker():
    return os.getpid()  # set-up runs in the worker, the body in a world

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, worker):
    crashwindow.run(work)
    if str(crashwindow.window) == "work.3+1:crash":
        os.kill(worker, signal.SIGKILL)
        signal.pause()
"""


def test_a_worker_that_is_killed_is_told_with_its_window(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=KILLED)
    result = run(pytester, "-n2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*worker 'gw*' crashed while running*"])
    result.stdout.fnmatch_lines(["*work.3+1:crash*"])


def test_an_unsteady_control_is_reported_once(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import itertools, os, sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, tmp_path_factory):
            marks = tmp_path_factory.getbasetemp() / "marks"
            seen = len(marks.read_text()) if marks.exists() else 0
            with open(marks, "a") as file:
                file.write("x")
            for n in range(seen + 1):
                crashwindow.run(sys.audit, "work.a")
        """
    )
    result = run(pytester, "-n2")
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines(["unsteady control: *"])


LATE = """
import os, sys, time, pytest
from pathlib import Path

WORKER = os.environ["PYTEST_XDIST_WORKER"]
FIRST_IS_AT_THE_END, OTHER_HAS_FAILED = Path("at_the_end").absolute(), Path("failed").absolute()

def wait_for(path):
    end = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)

def work():
    sys.audit("work.a")
    sys.audit("work.b")

def fails():
    wait_for(FIRST_IS_AT_THE_END)
    OTHER_HAS_FAILED.touch()
    raise RuntimeError("only here")

@pytest.fixture
def thing():
    yield
    if WORKER == "gw0":
        FIRST_IS_AT_THE_END.touch()
        wait_for(OTHER_HAS_FAILED)
        time.sleep(0.5)  # for it to be told
    elif TEAR_DOWN:
        fails()

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, thing):
    crashwindow.supervise(work)
    if WORKER == "gw1" and not TEAR_DOWN:
        fails()
    if SKIPS:
        pytest.skip("not today")
"""


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("tear_down", [False, True])
def test_a_failure_on_another_worker_is_told_though_the_sweep_has_its_verdict(
    pytester: pytest.Pytester, tear_down: bool, skips: bool
) -> None:
    pytester.makepyfile(test_it=f"TEAR_DOWN, SKIPS = {tear_down}, {skips}\n{LATE}")
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-n2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*RuntimeError: only here*"])


def test_a_failure_on_another_worker_is_told_though_the_sweep_is_being_reported(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import os, time
        from pathlib import Path

        FIRST_REPORTS, OTHER_HAS_FAILED = Path("at_the_end").absolute(), Path("failed").absolute()

        def pytest_runtest_logreport(report):
            if os.environ.get("PYTEST_XDIST_WORKER") == "gw0" and report.nodeid.endswith("::test_work"):
                FIRST_REPORTS.touch()
                end = time.monotonic() + 20
                while not OTHER_HAS_FAILED.exists() and time.monotonic() < end:
                    time.sleep(0.01)
                time.sleep(0.5)  # for it to be told
        """
    )
    first_does_not_wait = LATE.replace('WORKER == "gw0"', "False").replace("elif TEAR_DOWN", 'if WORKER == "gw1"')
    pytester.makepyfile(test_it=f"TEAR_DOWN, SKIPS = True, False\n{first_does_not_wait}")
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-n2")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*RuntimeError: only here*"])
