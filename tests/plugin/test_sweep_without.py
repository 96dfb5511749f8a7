"""A sweep in a pytest that lacks some of its plugins."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import OF_WORK, WORK, outcomes


@pytest.mark.parametrize(
    "missing", ["cacheprovider", "timeout", "logging", "junitxml", "warnings", "stepwise", "capture", "faulthandler"]
)
def test_it_works_without(run: Run, missing: str) -> None:
    result = run(WORK, "-v", "-p", f"no:{missing}")
    assert outcomes(result) == OF_WORK
    assert result.ret == 1


@pytest.mark.parametrize("mended", [False, True])
def test_without_a_terminal_the_exit_status_is_right(run: Run, mended: bool) -> None:
    result = run(WORK.replace("return  #", "pass  #") if mended else WORK, "-p", "no:terminal")
    assert result.ret == (0 if mended else 1)
    assert result.outlines == []


def test_with_the_plugin_off_the_marker_is_unknown(run: Run) -> None:
    result = run(WORK, "-p", "no:crashwindow")
    result.assert_outcomes(errors=1, warnings=1)
