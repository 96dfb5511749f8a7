"""The marker of a registered fault is known to pytest, strict markers included."""

from __future__ import annotations

import pytest


def test_a_registered_fault_brings_its_marker(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from pytest_crashwindow import Fault

        class Flood(Fault):
            "flood_at: the disk is full."
            name = "flood"

            def act(self, fired, life):
                raise OSError(28, "No space left on device")

        def pytest_crashwindow_faults(config):
            return [Flood()]
        """
    )
    pytester.makepyfile(
        """
        import sys
        import pytest

        @pytest.mark.flood_at("shop.paid")
        def test_it(crashwindow):
            assert crashwindow.run(sys.audit, "shop.paid").error.errno == 28
        """
    )
    pytester.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.flood_at(point, ...):*"])


def test_a_list_keeps_the_memory_of_failures(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        import pytest

        @pytest.mark.crash_windows
        def test_it(crashwindow):
            assert not crashwindow.run(sys.audit, "shop.paid").crashed
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(failed=2)
    pytester.runpytest_subprocess("--crashwindow-list").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("--lf").assert_outcomes(failed=1)
