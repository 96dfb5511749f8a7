"""The section at the end: what there was, what fired, what passed, why one stopped. Golden texts."""

from __future__ import annotations

import re

from .conftest import Run
from .sweeping import WORK, section

MENDED = WORK.replace("return  #", "pass  #")


def test_green_sweeps_are_one_line(run: Run) -> None:
    source = MENDED + MENDED.replace("test_work", "test_again").replace('"work.*"', '"work.*", pause="work.a"')
    assert section(run(source.replace("supervise(work, tmp_path)", "supervise(work, tmp_path).resume()"))) == [
        "2 sweeps: 7 windows exist, 7 explored, 7 fired, 7 passed (passed: crash 6/6, pause 1/1)"
    ]


def test_a_failed_sweep_is_a_table(run: Run) -> None:
    lines = section(run(WORK))
    assert lines[0] == "test_it.py::test_work: explored 3 of 3 windows, 1 failed"
    assert lines[-1] == "1 sweep: 3 windows exist, 3 explored, 3 fired, 2 passed (passed: crash 2/3)"
    table = [line.split() for line in lines[1:-1]]
    assert (
        table[-3:] == [["work.a", "ok"], ["work.b", "FAIL"], ["work.c", "ok"]]
        or [
            "work.b",
            "FAIL",
        ]
        in table
    )


def test_slow_windows_are_named(run: Run) -> None:
    source = MENDED.replace("import sys", "import sys, time").replace(
        "    assert (tmp", "    time.sleep(0.6 if '.b+' in str(crashwindow.window) else 0)\n    assert (tmp"
    )
    slow = [line for line in section(run(source)) if line.startswith("slow: ")]
    assert [re.sub(r"\d+\.\d+", "N", line) for line in slow[:1]] == ["slow: N s test_it.py::test_work work.b+1:crash"]


def test_why_a_sweep_stopped_is_said(run: Run) -> None:
    lines = section(run(WORK.replace('"work.*"', '"work.*", max_windows=1')))
    assert lines[0].startswith("test_it.py::test_work: explored 1 of 3 windows (max_windows=1, seed 0), ")


def test_without_a_sweep_there_is_no_section(run: Run) -> None:
    result = run("def test_x(crashwindow):\n    crashwindow.run(print)\n")
    assert "crash windows" not in result.stdout.str()


def test_it_comes_with_q_and_not_under_no_summary(run: Run) -> None:
    assert section(run(WORK, "-q"))
    assert "windows exist" not in run(WORK, "--no-summary").stdout.str()
