"""`--crashwindow-max-windows` and `--crashwindow-seed`: a sample, and saying so."""

from __future__ import annotations

from .conftest import Run
from .sweeping import section, windows

TEN = """
import sys, pytest

def work():
    for n in range(10):
        sys.audit(f"work.{n}")

@pytest.mark.crash_windows("work.*")
def test_work(crashwindow):
    crashwindow.run(work)
"""


def test_so_many_windows_are_drawn_and_it_is_said_how_many_there_are(run: Run) -> None:
    result = run(TEN, "-v", "--crashwindow-max-windows=4")
    chosen = windows(result)
    assert len(chosen) == 4
    assert chosen == sorted(chosen)
    assert "test_it.py::test_work: explored 4 of 10 windows (max_windows=4, seed 0), all passed" in section(result)
    assert result.ret == 0


def test_the_seed_alone_decides_which(run: Run) -> None:
    one, again, other = (
        windows(run(TEN, "-v", "--crashwindow-max-windows=4", f"--crashwindow-seed={n}")) for n in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_a_sample_that_is_everything_says_nothing(run: Run) -> None:
    result = run(TEN, "--crashwindow-max-windows=10")
    assert section(result) == ["1 sweep: 10 windows exist, 10 explored, 10 fired, 10 passed (passed: crash 10/10)"]


def test_the_marker_may_ask_for_it(run: Run) -> None:
    result = run(TEN.replace('"work.*"', '"work.*", max_windows=3'), "-v", "--crashwindow-max-windows=7")
    assert len(windows(result)) == 3


def test_with_depth_the_limit_is_for_all_windows(run: Run) -> None:
    source = TEN.replace("crashwindow.run(", "crashwindow.supervise(")
    result = run(source, "-v", "--crashwindow-max-windows=6", "--crashwindow-depth=2")
    assert len(windows(result)) == 6
    result.stdout.fnmatch_lines(["*explored 6 of * windows (max_windows=6, seed 0)*"])
