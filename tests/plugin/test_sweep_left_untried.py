"""What a sweep was asked for and doesn't try is said, and is no green."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import WORK, outcomes, section

TWO_POINTS = """
import sys, pytest

def work():
    sys.audit("work.a")
    sys.audit("work.b")

@MARKS
def test_work(crashwindow):
    crashwindow.supervise(work).resume()
"""


def test_a_kind_of_fault_without_a_window(run: Run) -> None:
    marks = "pytest.mark.crash_windows('work.a', lost_ack='smtp.send', duplicate='work.a')"
    assert section(run(TWO_POINTS.replace("MARKS", marks)))[:4] == [
        "test_it.py::test_work: explored 1 of 1 windows, all passed",
        "  smtp.send was asked for, and the control doesn't pass it",
        "  lost_ack='smtp.send' gives no window: it makes sense at no point of the control",
        "  duplicate='work.a' gives no window: duplicate needs an attached call, named as pkg.module:function",
    ]


GLOBS = {
    "'work.*', pause='wrok.*'": ["wrok.*"],
    "['work.*', 'wrok.*']": ["wrok.*"],
    "lost_ack={'work.*': OSError, 'wrok.*': ValueError}": ["wrok.*"],
    "delay={'work.*': 0.01, 'wrok.?': 0.01}": ["wrok.?"],
    "['work.*', '!other.*']": [],  # shared by many tests, it need not match everywhere
    "['work.*', '!work.b*']": [],
    "['*', '!work.b*'], pause='work.a'": [],
    "['work.*'], pause=['work.*', '!work.a*']": [],
    "['work.a'], pause=['wrok.*', 'work.?', 'wokr.*'], error={'wrok.*': OSError}": ["wrok.*", "wokr.*"],
}


@pytest.mark.parametrize("asked", GLOBS)
def test_a_glob_that_matches_nothing(run: Run, asked: str) -> None:
    marks = f"pytest.mark.crash_windows({asked})"
    lines = section(run(TWO_POINTS.replace("MARKS", marks), "-o", "crashwindow_points=!nothing.*"))
    notes = [line for line in lines if line.startswith("  '") or "gives no window" in line]
    assert notes == [f"  {glob!r} matches no point that the control passed" for glob in GLOBS[asked]]


def test_a_glob_of_the_options_need_not_match_everywhere(run: Run) -> None:
    marks = "pytest.mark.crash_windows"
    result = run(TWO_POINTS.replace("MARKS", marks), "-o", "crashwindow_points=work.*\nother.*\n!third.*")
    assert section(result) == ["1 sweep: 2 windows exist, 2 explored, 2 fired, 2 passed (passed: crash 2/2)"]


def test_a_duplicate_of_what_is_no_attached_call(run: Run) -> None:
    source = TWO_POINTS.replace("MARKS", "pytest.mark.crash_windows(duplicate='work.a')")
    result = run(source)
    result.stdout.fnmatch_lines(["duplicate='work.a' gives no window: duplicate needs an attached call, named as *"])
    assert "one that the sweep asks for" not in result.stdout.str()
    result = run(source.replace("duplicate=", "pause='subprocess.*', duplicate="))
    result.stdout.fnmatch_lines(
        [
            "no point of the control is one that the sweep asks for (subprocess.*, work.a).",
            "duplicate='work.a' gives no window: duplicate needs an attached call, named as *",
        ]
    )


def test_where_no_kind_has_one_the_error_says_it_all(run: Run) -> None:
    marks = "pytest.mark.crash_windows('wrok.*')"
    assert section(run(TWO_POINTS.replace("MARKS", marks)))[:-1] == [
        "test_it.py::test_work: explored 0 of 0 windows, error"
    ]


def test_an_excluded_name_that_nothing_has(run: Run) -> None:
    result = run(TWO_POINTS.replace("MARKS", "pytest.mark.crash_windows(['work.*', '!work.bb'])"), "-v")
    assert outcomes(result) == {"test_work": "FAILED"}
    result.stdout.fnmatch_lines(["*unknown point '!work.bb'; did you mean 'work.b'*"])


def test_an_excluded_name_that_exists_and_is_not_passed(run: Run) -> None:
    result = run(TWO_POINTS.replace("MARKS", "pytest.mark.crash_windows(['work.*', '!smtp.send'])"))
    result.assert_outcomes(passed=3)


def test_windows_that_are_all_skipped(run: Run) -> None:
    source = WORK.replace("    assert", "    crashwindow.window and pytest.skip('not today')\n    assert")
    result = run(source, "-v")
    assert set(outcomes(result).values()) == {"SKIPPED"}
    assert section(result)[0] == "test_it.py::test_work: explored 3 of 3 windows, 0 passed"


def test_no_window_is_tried_where_a_marker_has_its_own_fault(run: Run) -> None:
    for mark in ("crash_at('work.b')", "error_at('work.b', OSError)", "delay_at('work.b', 0.01)"):
        result = run(TWO_POINTS.replace("MARKS", f"pytest.mark.{mark}\n@pytest.mark.crash_windows('work.*')"), "-v")
        assert ("test_work[work.b+1:crash]" in outcomes(result)) == mark.startswith("delay")
        assert set(outcomes(result).values()) == {"PASSED"}
