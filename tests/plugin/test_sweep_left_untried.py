"""What a sweep was asked for and doesn't try is said, and is no green."""

from __future__ import annotations

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
    marks = "pytest.mark.crash_windows('work.a', pause='wrok.*', duplicate='work.a')"
    assert section(run(TWO_POINTS.replace("MARKS", marks)))[:3] == [
        "test_it.py::test_work: explored 1 of 1 windows, all passed",
        "  pause='wrok.*' gives no window: it makes sense at no point of the control",
        "  duplicate='work.a' gives no window: it makes sense at no point of the control",
    ]


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
