"""A node id pasted from a failure runs that window, and nothing else."""

from __future__ import annotations

import re
import shlex

import pytest

from .conftest import WITHOUT_OTHERS, Run
from .sweeping import WORK, A, B, outcomes


def test_it_runs_that_window_alone(run: Run) -> None:
    result = run(WORK, "-v", f"test_it.py::{B}")
    assert outcomes(result) == {B: "FAILED"}
    assert run(WORK, f"test_it.py::{A}").ret == 0


def test_several_run_in_the_order_given(run: Run) -> None:
    result = run(WORK, "-v", f"test_it.py::{B}", f"test_it.py::{A}")
    assert outcomes(result) == {B: "FAILED", A: "PASSED"}


def test_the_line_to_run_it_again_does(run: Run, pytester: pytest.Pytester) -> None:
    source = """
        import sys, pytest

        class TestWork:
            @pytest.mark.crash_windows("work.*")
            @pytest.mark.parametrize("text", ["it's [odd]"])
            def test_it(self, crashwindow, text):
                assert not crashwindow.run(sys.audit, "work.a b").crashed
        """
    printed = re.search(r"run it again: pytest (.*)", run(source).stdout.str())
    assert printed
    again = pytester.runpytest_subprocess(*WITHOUT_OTHERS, "-v", *shlex.split(printed[1]))
    again.assert_outcomes(failed=1)
    assert list(outcomes(again)) == [shlex.split(printed[1])[0].rpartition("::")[2]]


@pytest.mark.parametrize("where", ["other", "tests"])
def test_from_another_directory(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    tests = pytester.mkdir("tests")
    pytester.mkdir("other")
    (tests / "test_it.py").write_text(WORK)
    monkeypatch.chdir(pytester.path / where)
    path = "../tests/test_it.py" if where == "other" else "test_it.py"
    options = [*WITHOUT_OTHERS, "-v", f"--rootdir={pytester.path}"]
    result = pytester.runpytest_subprocess(*options, f"{path}::{B}")
    assert outcomes(result) == {B: "FAILED"}
    result.stdout.fnmatch_lines([f"run it again: pytest '{path}::test_work[[]work.b+1:crash[]]'"])


def test_a_window_that_is_not_reached_fails_and_says_what_was_passed(run: Run) -> None:
    result = run(WORK, "-v", "test_it.py::test_work[work.b+2:crash]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*never fired: the point was passed once.", "The lives of this test passed:", "  work.a", "not reached: *"]
    )


def test_an_unknown_point_is_told_with_the_near_name(run: Run) -> None:
    result = run(WORK, "test_it.py::test_work[work.bb+1:crash]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unknown point 'work.bb'; did you mean 'work.b'*"])


def test_an_id_that_is_no_window_is_pytests_usual_error(run: Run) -> None:
    result = run(WORK, "test_it.py::test_work[work.b]")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: not found: *test_it.py::test_work*"])


def test_an_unknown_fault_fails_and_names_those_there_are(run: Run) -> None:
    result = run(WORK, "test_it.py::test_work[work.b+1:crush]")
    result.stdout.fnmatch_lines(["*no fault 'crush'*crash*pause*"])
    assert result.ret == 1


def test_a_fault_that_the_sweep_does_not_try_gets_its_defaults(run: Run) -> None:
    result = run(WORK, "-v", "test_it.py::test_work[work.c+1:pause]")
    assert outcomes(result) == {"test_work[work.c+1:pause]": "PASSED"}


def test_windows_of_depth_two_can_be_pasted_too(run: Run) -> None:
    source = WORK.replace('"work.*"', '"work.*", depth=2')
    pair = "test_work[work.a+1:crash/work.b+1:crash]"
    assert outcomes(run(source, "-v", f"test_it.py::{pair}")) == {pair: "FAILED"}
