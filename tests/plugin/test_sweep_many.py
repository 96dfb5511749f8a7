"""A long sweep: the same each time, and nothing left of it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .conftest import WITHOUT_OTHERS

LONG = """
import os, sys, pytest

def work(path):
    for n in range(COUNT):
        with open(path, "a") as file:
            file.write("x")
        sys.audit(f"work.{n}")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow, tmp_path):
    life = crashwindow.run(work, tmp_path / "file")
    number = int(life.hits[-1].partition("+")[0].rpartition(".")[2]) if life.crashed else 0
    assert number % 7 != 3
"""
MEASURE = """
import os, resource, sys

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

class Watch:
    began = None

    def pytest_runtest_logreport(self, report):
        if report.when == "call" and self.began is None:
            self.began = rss(), len(os.listdir("/proc/self/fd"))
        self.ended = rss(), len(os.listdir("/proc/self/fd"))

    def pytest_unconfigure(self):
        with open("grown", "a") as file:
            print(self.ended[0] - self.began[0], self.ended[1] - self.began[1], file=file)

def pytest_configure(config):
    config.pluginmanager.register(Watch())
"""
COUNT = 300


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads memory and processes from /proc")
def test_300_windows_three_times(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=LONG.replace("COUNT", str(COUNT)))
    pytester.makeconftest(MEASURE)
    told = []
    for _ in range(3):
        result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, "-v", "--tb=no", "-p", "no:cacheprovider")
        assert processes_in(pytester.path) == []
        assert [path.name for path in pytester.path.glob("runpytest-*/*") if path.name.startswith("crash")] == []
        told.append(re.findall(r"test_work\[(.*)\] (PASSED|FAILED)", result.stdout.str()))
    assert told[0] == [(f"work.{n}+1:crash", "FAILED" if n % 7 == 3 else "PASSED") for n in range(COUNT)]
    assert told[1] == told[0]
    assert told[2] == told[0]
    for line in (pytester.path / "grown").read_text().splitlines():
        memory, descriptors = map(int, line.split())
        assert memory < 20e6
        assert descriptors <= 0


def processes_in(directory: Path) -> list[str]:
    """Processes that stand in or below a directory, as those of an ended run would."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if (
                process.name.isdigit()
                and process.name != str(os.getpid())
                and (process / "cwd").readlink().is_relative_to(directory)
            ):
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
