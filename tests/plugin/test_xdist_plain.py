"""The same tests give the same results with xdist, in another order, and in any distribution."""

from __future__ import annotations

import pytest

pytest.importorskip("xdist")

SUITE = """
    import os, sys, pytest

    def passes(n):
        sys.audit("shop.a", n)
        return n

    @pytest.mark.crash_at("shop.a")
    @pytest.mark.parametrize("n", range(3))
    def test_crash(crashwindow, n):
        assert crashwindow.run(passes, n).crashed
        assert crashwindow.run(passes, n).value == n

    @pytest.mark.pause_at("shop.a")
    def test_pause(crashwindow):
        assert crashwindow.run(passes, 1).paused

    def test_fails(crashwindow):
        assert crashwindow.run(passes, 1).value == 2

    def test_skips(crashwindow):
        pytest.skip("x")

    @pytest.mark.xfail
    def test_xfail(crashwindow):
        assert False

    def test_unattributed(crashwindow):
        crashwindow.run(os._exit, 0)

    @pytest.mark.crash_at("shop.b")
    def test_never_fired(crashwindow):
        crashwindow.run(passes, 1)

    def never(): sys.audit("shop.b")

    @pytest.mark.crash_at(7)
    def test_error(crashwindow): pass

    def test_body_dies(crashwindow):
        os._exit(1)

    def test_plain(): pass
    """

EXPECTED = {"passed": 5, "failed": 4, "skipped": 1, "xfailed": 1, "errors": 1}


@pytest.mark.parametrize(
    "args",
    [
        ("-p", "no:xdist", "-p", "no:randomly"),
        ("-n2", "-p", "no:randomly"),
        ("-n2", "--dist=worksteal", "-p", "no:randomly"),
        ("-n2", "--dist=each", "-p", "no:randomly"),
        ("-p", "no:xdist", "-p", "randomly", "-p", "no:cacheprovider"),
    ],
    ids=["plain", "load", "worksteal", "each", "random"],
)
def test_results_are_the_same(pytester: pytest.Pytester, args: tuple[str, ...]) -> None:
    if "randomly" in args:
        pytest.importorskip("pytest_randomly")
        args = ("-p", "no:xdist", "-p", "no:cacheprovider")
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-p", "no:asyncio", *args)
    times = 2 if "--dist=each" in args else 1
    result.assert_outcomes(**{name: number * times for name, number in EXPECTED.items()})


def test_sections_of_a_failure_arrive_from_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_it(crashwindow):
            crashwindow.run(print, "hello from the life")
            assert False
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:asyncio", "-n1")
    result.stdout.fnmatch_lines(
        ["*- crashwindow timeline -*", "*- crashwindow stdout of life 'print' -*", "hello from*"]
    )


def test_timeouts_in_workers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import time

        def test_hangs(crashwindow): time.sleep(1000)
        def test_after(crashwindow): assert crashwindow.run(lambda: 1).value == 1
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:asyncio", "-n1", "--timeout=1", "--timeout-method=thread")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.no_fnmatch_line("*worker*crashed*")
