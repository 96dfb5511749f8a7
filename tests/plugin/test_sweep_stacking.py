"""Sweeps beside other kinds of tests and other plugins."""

from __future__ import annotations

import pytest

from .conftest import WITHOUT_OTHERS, Run
from .sweeping import OF_WORK, WORK, outcomes, windows

CASE = """
import sys, unittest, pytest

class TestWork(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _lives(self, crashwindow):
        self.crashwindow = crashwindow

    def setUp(self):
        self.seen = []

    @pytest.mark.crash_windows("work.*")
    def test_work(self):
        self.seen.append(1)
        self.crashwindow.run(sys.audit, "work.a")
        self.assertEqual(self.seen, [1])
"""


def test_a_unittest_test_case(run: Run) -> None:
    result = run(CASE, "-v")
    assert outcomes(result) == {"test_work[work.a+1:crash]": "PASSED", "test_work": "PASSED"}
    only = run(CASE, "-v", "--crashwindow-window=work.a+1:crash")
    assert windows(only) == ["work.a+1:crash"]


def test_async_tests(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(
        test_it="""
        import asyncio, sys, pytest, pytest_asyncio

        async def work():
            sys.audit("work.a")
            await asyncio.sleep(0)
            sys.audit("work.b")
            return "done"

        @pytest_asyncio.fixture
        async def loop_time():
            return asyncio.get_running_loop().time()

        @pytest.mark.asyncio
        @pytest.mark.crash_windows("work.*")
        async def test_work(crashwindow, loop_time):
            await asyncio.sleep(0)
            assert crashwindow.supervise(work).value == "done"
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:xdist", "-v")
    assert windows(result) == ["work.a+1:crash", "work.b+1:crash"]
    assert result.ret == 0


def test_random_order_of_tests_keeps_the_order_within_a_sweep(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_randomly")
    pytester.makepyfile(test_it=WORK)
    options = [option for option in WITHOUT_OTHERS if option != "no:randomly"]
    options.remove("-p")
    result = pytester.runpytest_subprocess(*options, "-v", "-p", "randomly", "-p", "no:asyncio")
    assert list(outcomes(result).items()) == list(OF_WORK.items())


def test_module_fixtures_are_torn_down_after_the_last_test_that_needs_them(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.fixture(scope="module")
        def shared():
            print("shared up")
            yield
            print("shared down")

        @pytest.mark.crash_windows("work.*")
        @pytest.mark.parametrize("n", [1, 2])
        def test_work(crashwindow, shared, n):
            crashwindow.run(sys.audit, "work.a")

        def test_after(shared):
            print("after")
        """,
        "-s",
    )
    result.assert_outcomes(passed=5)
    told = [word for word in result.stdout.str().replace(".", " ").split() if word in ("up", "down", "after")]
    assert told == ["up", "after", "down"]


def test_a_failing_set_up_or_tear_down_is_an_error_of_the_sweep(run: Run) -> None:
    source = WORK.replace("return  #", "pass  #").replace("(crashwindow, ", "(crashwindow, broken, ")
    fixture = "import pytest\n@pytest.fixture\ndef broken():\n    BODY\n"
    up = run(fixture.replace("BODY", "assert 0, 'no set-up'") + source, "-v")
    up.assert_outcomes(errors=1)
    down = run(fixture.replace("BODY", "yield; assert 0, 'no tear-down'") + source)
    down.assert_outcomes(passed=4, errors=1)
    down.stdout.fnmatch_lines(["*ERROR at teardown of test_work *"])


def test_a_marker_for_a_whole_class_or_module(run: Run) -> None:
    result = run(
        """
        import sys, pytest
        pytestmark = pytest.mark.crash_windows("work.*")

        def test_one(crashwindow):
            crashwindow.run(sys.audit, "work.a")

        class TestMore:
            @pytest.mark.crash_windows("work.b")
            def test_two(self, crashwindow):
                crashwindow.run(sys.audit, "work.a")
                crashwindow.run(sys.audit, "work.b")
        """,
        "-v",
    )
    assert windows(result) == ["work.a+1:crash", "work.b+1:crash"]
    result.assert_outcomes(passed=4)


def test_a_fault_of_a_marker_fires_in_every_world_of_a_sweep(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        def work():
            sys.audit("work.a")
            sys.audit("work.b")

        @pytest.mark.error_at("work.a", error=KeyError)
        @pytest.mark.crash_windows("work.b")
        def test_work(crashwindow):
            assert isinstance(crashwindow.run(work).error, KeyError)
            crashwindow.run(work)
        """,
        "-v",
    )
    assert windows(result) == ["work.b+1:crash"]
    assert result.ret == 0


def test_two_sweeps_of_one_test_are_an_error(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        @pytest.mark.crash_windows(pause="work.*")
        def test_work(crashwindow):
            crashwindow.run(sys.audit, "work.done")
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["crash_windows is given twice: write it as one, *"])


def test_the_sweep_of_a_test_counts_more_than_that_of_its_class(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        class TestWork:
            @pytest.mark.crash_windows(pause="work.*")
            def test_work(self, crashwindow):
                crashwindow.run(sys.audit, "work.done")
        """,
        "-v",
    )
    assert outcomes(result) == {"test_work[work.done+1:pause]": "PASSED", "test_work": "PASSED"}
