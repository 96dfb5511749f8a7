"""Fixtures that look at how their test ended can do so, though its body ran in another process."""

from __future__ import annotations

import pytest

CONFTEST = """
    import pytest

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item, call):
        report = yield
        setattr(item, f"report_{report.when}", report)
        return report

    @pytest.fixture
    def ending(request):
        yield
        print("the body ended:", request.node.report_call.outcome)
"""


@pytest.mark.parametrize(
    ("marker", "body", "outcome"),
    [
        ("", "assert True", "passed"),
        ("", "assert False", "failed"),
        ("", "pytest.skip('not here')", "skipped"),
        ("@pytest.mark.xfail", "assert False", "skipped"),
        ("@pytest.mark.crash_windows", "crashwindow.run(sys.audit, 'shop.paid')", "passed"),
        ("@pytest.mark.crash_windows", "assert not crashwindow.run(sys.audit, 'shop.paid').crashed", "failed"),
    ],
)
def test_a_fixture_knows_the_outcome(pytester: pytest.Pytester, marker: str, body: str, outcome: str) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(
        f"""
        import sys
        import pytest

        {marker}
        def test_it(ending, crashwindow):
            {body}
        """
    )
    result = pytester.runpytest_subprocess("-rA", "-s")
    result.stdout.fnmatch_lines([f"*the body ended: {outcome}"])


def test_retention_policy_failed_keeps_the_folder_of_a_failed_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntmp_path_retention_policy = failed\n")
    pytester.makepyfile(
        """
        def test_it(crashwindow, tmp_path):
            (tmp_path / "kept").touch()
            assert False
        """
    )
    base = pytester.path / "base"
    pytester.runpytest_subprocess("--basetemp", str(base)).assert_outcomes(failed=1)
    assert list(base.glob("*/kept"))
