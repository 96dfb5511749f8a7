"""Windows behind windows, spread over workers: none is forgotten by the verdict, none is counted twice."""

from __future__ import annotations

import re

import pytest

TEST = """
    import sys
    import pytest

    def work(path):
        for step in ("a", "b", "c"):
            sys.audit(f"shop.{step}")
        path.touch()

    @pytest.mark.crash_windows("shop.*", depth=2%s)
    def test_work(crashwindow, tmp_path):
        crashwindow.supervise(work, tmp_path / "done")
        assert (tmp_path / "done").exists()
"""


@pytest.mark.parametrize("more", ["", ", max_windows=7"])
@pytest.mark.parametrize("workers", ["-n0", "-n2", "-n3"])
def test_all_windows_count(pytester: pytest.Pytester, workers: str, more: str) -> None:
    pytester.makepyfile(TEST % more)
    result = pytester.runpytest_subprocess("-v", workers, "-p", "no:randomly")
    total = 7 if more else 12
    result.assert_outcomes(passed=total + 1)
    windows = re.findall(r"test_work\[(\S+)\] *(?:PASSED)?", result.stdout.str())
    assert len(set(windows)) == total
    result.stdout.fnmatch_lines([f"1 sweep: * windows exist, {total} explored, {total} fired, {total} passed*"])
    if not more:
        result.stdout.fnmatch_lines(["1 sweep: 12 windows exist*"])
