"""xfail and skip: as people expect them of one test, for a test with many windows."""

from __future__ import annotations

from .conftest import Run
from .sweeping import WORK, A, B, C, outcomes

MENDED = WORK.replace("return  #", "pass  #")


def marked(source: str, marker: str) -> str:
    return source.replace("@pytest.mark.crash", f"@pytest.mark.{marker}\n@pytest.mark.crash")


def test_a_failing_window_is_xfail_and_so_is_the_sweep(run: Run) -> None:
    result = run(marked(WORK, "xfail(strict=True, reason='known')"), "-v")
    assert outcomes(result) == {A: "PASSED", B: "XFAIL", C: "PASSED", "test_work": "XFAIL"}
    assert result.ret == 0


def test_a_sweep_without_a_failing_window_is_xpass(run: Run) -> None:
    result = run(marked(MENDED, "xfail"), "-v")
    assert outcomes(result) == {A: "PASSED", B: "PASSED", C: "PASSED", "test_work": "XPASS"}
    assert result.ret == 0


def test_a_strict_one_fails_then(run: Run) -> None:
    result = run(marked(MENDED, "xfail(strict=True, reason='known')"), "-v")
    assert outcomes(result) == {A: "PASSED", B: "PASSED", C: "PASSED", "test_work": "FAILED"}
    result.stdout.fnmatch_lines(["*XPASS(strict)*known*"])
    assert result.ret == 1


def test_a_failing_control_is_xfail(run: Run) -> None:
    result = run(marked(WORK.replace(".exists()\n", ".is_dir()\n"), "xfail(strict=True)"), "-v")
    assert outcomes(result) == {"test_work": "XFAIL"}
    assert result.ret == 0


def test_a_window_that_fails_otherwise_than_expected_fails(run: Run) -> None:
    result = run(marked(WORK, "xfail(raises=KeyError)"), "-v")
    assert outcomes(result)[B] == "FAILED"
    assert result.ret == 1


def test_xfail_in_the_body(run: Run) -> None:
    source = WORK.replace("    assert (tmp", "    if crashwindow.window: pytest.xfail('later')\n    assert (tmp")
    result = run(source, "-v")
    assert outcomes(result) == {A: "XFAIL", B: "XFAIL", C: "XFAIL", "test_work": "XFAIL"}


def test_a_pasted_window_of_an_xfail_is_xfail(run: Run) -> None:
    source = marked(WORK, "xfail(strict=True)")
    assert outcomes(run(source, "-v", f"test_it.py::{B}")) == {B: "XFAIL"}
    passing = run(source, "-v", f"test_it.py::{A}")
    assert outcomes(passing) == {A: "PASSED"}


def test_a_skip_in_the_body_of_a_window_is_a_skipped_window(run: Run) -> None:
    source = MENDED.replace(
        "    assert (tmp",
        "    if crashwindow.window and 'work.a' in str(crashwindow.window): pytest.skip('no')\n    assert (tmp",
    )
    result = run(source, "-v", "-rs")
    assert outcomes(result) == {A: "SKIPPED", B: "PASSED", C: "PASSED", "test_work": "PASSED"}
    result.stdout.fnmatch_lines(["SKIPPED * no"])


def test_a_skip_in_the_control_is_one_skipped_test(run: Run) -> None:
    result = run(WORK.replace("    assert (tmp", "    pytest.skip('not here')\n    assert (tmp"), "-v", "-rs")
    assert outcomes(result) == {"test_work": "SKIPPED"}
    result.stdout.fnmatch_lines(["SKIPPED * not here"])


def test_a_skip_marker_is_one_skipped_test(run: Run) -> None:
    assert outcomes(run(marked(WORK, "skip(reason='not here')"), "-v")) == {"test_work": "SKIPPED"}
