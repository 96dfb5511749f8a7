"""`--lf`, `--ff` and `--sw` know windows."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import OF_WORK, WORK, A, B, C, outcomes

AROUND = "def test_before(): pass\n" + WORK + "\ndef test_after(): pass\n"
MENDED = WORK.replace("return  #", "pass  #")


def test_lf_runs_the_failed_windows_only(run: Run) -> None:
    run(AROUND)
    result = run(AROUND, "-v", "--lf")
    assert outcomes(result) == {B: "FAILED"}
    result.stdout.fnmatch_lines(["run-last-failure: rerun previous 1 failure"])


def test_lf_runs_the_whole_sweep_when_its_control_failed(run: Run) -> None:
    run(WORK.replace('(tmp_path / "done").exists()', "False"))
    assert outcomes(run(WORK, "-v", "--lf")) == OF_WORK


def test_what_was_mended_is_forgotten_by_lf(run: Run) -> None:
    run(WORK)
    assert outcomes(run(MENDED, "-v", "--lf")) == {B: "PASSED"}
    run(MENDED)
    result = run(MENDED, "-v", "--lf")
    result.stdout.fnmatch_lines(["run-last-failure: no previously failed tests, not deselecting items."])


def test_a_window_that_is_gone_is_forgotten_by_lf(run: Run) -> None:
    run(WORK)
    without = MENDED.replace('sys.audit("work.b")', "pass")
    run(without)
    result = run(without, "-v", "--lf")
    result.stdout.fnmatch_lines(["run-last-failure: no previously failed tests, not deselecting items."])


def test_a_window_of_parameters_is_forgotten_alone(run: Run) -> None:
    source = WORK.replace("@pytest.mark.crash", '@pytest.mark.parametrize("n", [1, 2])\n@pytest.mark.crash').replace(
        "(crashwindow, ", "(crashwindow, n, "
    )
    run(source)
    result = run(source, "-v", "--lf", "-k", "test_work[1")
    assert outcomes(result) == {"test_work[1-work.b+1:crash]": "FAILED"}
    assert set(outcomes(run(source, "-v", "--lf"))) == {f"test_work[{n}-work.b+1:crash]" for n in (1, 2)}


def test_ff_runs_failed_windows_first_and_the_others_after_them(run: Run) -> None:
    run(AROUND)
    result = run(AROUND, "-v", "--ff")
    assert list(outcomes(result)) == [B, A, C, "test_work", "test_before", "test_after"]


def test_sw_stops_at_a_failed_window_and_goes_on_from_it(run: Run) -> None:
    first = run(AROUND, "-v", "--sw")
    assert list(outcomes(first)) == ["test_before", A, B, "test_work"]
    mended = AROUND.replace("return  #", "pass  #")
    second = run(mended, "-v", "--sw")
    assert list(outcomes(second)) == [B, C, "test_work", "test_after"]
    assert second.ret == 0
    assert outcomes(run(mended, "-v", "--sw"))["test_before"] == "PASSED"


@pytest.mark.parametrize("option", ["--lf", "--ff", "--sw"])
def test_without_a_memory_everything_runs(run: Run, option: str) -> None:
    assert set(outcomes(run(MENDED, "-v", option))) == {A, B, C, "test_work"}


def test_sw_begins_at_the_beginning_if_it_stopped_nowhere_before(run: Run) -> None:
    run(WORK)
    assert outcomes(run(WORK, "-v", "--sw")) == {A: "PASSED", B: "FAILED", "test_work": "FAILED"}
