"""Under xdist a worker that comes too late for a sweep leaves nothing of the module before standing."""

from __future__ import annotations

import pytest

pytest.importorskip("xdist")

MODULE = """
    import sys
    import pytest

    @pytest.fixture(scope="module", autouse=True)
    def of_module():
        yield

    @pytest.mark.crash_windows
    def test_swept(crashwindow):
        crashwindow.supervise(sys.audit, "shop.a")

    def test_plain():
        pass
"""


def test_sweeps_in_many_modules(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**dict.fromkeys((f"test_{letter}" for letter in "abcdefghij"), MODULE))
    result = pytester.runpytest_subprocess("-n2", "-p", "no:randomly", "-p", "no:asyncio")
    result.assert_outcomes(passed=30)
