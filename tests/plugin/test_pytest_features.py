"""Everything that pytest has for tests works for those that use the fixture."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from .conftest import WITHOUT_OTHERS, Run


def test_fixtures_of_pytest(run: Run) -> None:
    result = run(
        """
        import logging, os, sys, warnings, pytest

        def test_capsys(crashwindow, capsys):
            print("in the test")
            crashwindow.run(print, "in the life")
            assert capsys.readouterr().out == "in the test\\n"

        def test_capfd(crashwindow, capfd):
            os.system("echo in the test")
            assert capfd.readouterr().out == "in the test\\n"

        def test_caplog(crashwindow, caplog):
            logging.getLogger("shop").warning("in the test")
            crashwindow.run(logging.getLogger("shop").warning, "in the life")
            assert caplog.messages == ["in the test"]

        def test_monkeypatch(crashwindow, monkeypatch):
            monkeypatch.setenv("SHOP", "open")
            assert crashwindow.run(os.getenv, "SHOP").value == "open"

        def test_monkeypatch_is_undone():
            assert "SHOP" not in os.environ

        def test_recwarn(crashwindow, recwarn):
            warnings.warn("careful")
            assert len(recwarn) == 1

        def test_tmp_path(crashwindow, tmp_path):
            crashwindow.run((tmp_path / "file").touch)
            assert (tmp_path / "file").exists()

        def test_raises(crashwindow):
            with pytest.raises(ZeroDivisionError):
                crashwindow.run(lambda: 1 / 0).value
        """
    )
    result.assert_outcomes(passed=8)


def test_outcomes(run: Run) -> None:
    result = run(
        """
        import unittest, pytest

        def test_fails(crashwindow): assert 1 == 2
        def test_skips(crashwindow): pytest.skip("reason of skip")
        @pytest.mark.skip(reason="by mark")
        def test_marked_skip(crashwindow): pass
        @pytest.mark.skipif(True, reason="by condition")
        def test_skipif(crashwindow): pass
        @pytest.mark.xfail
        def test_xfail(crashwindow): assert False
        @pytest.mark.xfail
        def test_xpass(crashwindow): pass
        @pytest.mark.xfail(strict=True)
        def test_xpass_strict(crashwindow): pass
        @pytest.mark.xfail(raises=KeyError)
        def test_xfail_other(crashwindow): raise ValueError
        def test_imperative_xfail(crashwindow): pytest.xfail("reason of xfail")
        @pytest.mark.xfail(run=False)
        def test_not_run(crashwindow): crashwindow.run(print)
        def test_interrupted(crashwindow): raise KeyboardInterrupt
        def test_system_exit(crashwindow): raise SystemExit(3)
        def test_importorskip(crashwindow): pytest.importorskip("no_such_module_at_all")
        """,
        "-rA",
    )
    result.assert_outcomes(failed=5, skipped=4, xfailed=3, xpassed=1)
    result.stdout.fnmatch_lines(["*SKIPPED*reason of skip*"])
    result.stdout.fnmatch_lines(["*XFAIL*reason of xfail*"])


def test_classes_parameters_and_unittest(run: Run) -> None:
    result = run(
        """
        import unittest, pytest

        class TestClass:
            def setup_method(self): self.ready = True
            @pytest.mark.parametrize("n", [1, 2])
            def test_method(self, crashwindow, n):
                assert self.ready
                assert crashwindow.run(lambda: n).value == n

        class TestCase(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def _crashwindow(self, crashwindow):
                self.crashwindow = crashwindow

            def setUp(self): self.ready = True

            def test_life(self):
                self.assertTrue(self.ready)
                self.assertEqual(self.crashwindow.run(lambda: 1).value, 1)

            def test_fails(self): self.assertEqual(1, 2)
            def test_skips(self): self.skipTest("x")
            @unittest.expectedFailure
            def test_expected(self): self.fail()
        """
    )
    result.assert_outcomes(passed=3, failed=1, skipped=1, xfailed=1)


def test_set_up_and_tear_down_happen_once_in_pytests_process(run: Run) -> None:
    result = run(
        """
        import os, pytest
        PYTEST = os.getpid()

        @pytest.fixture(scope="module")
        def module():
            assert os.getpid() == PYTEST
            log = []
            yield log
            assert os.getpid() == PYTEST
            print("module down", log)

        @pytest.fixture
        def function(module, request):
            module.append(request.node.name)
            yield
            assert os.getpid() == PYTEST

        def test_a(crashwindow, function, request):
            assert os.getpid() != PYTEST
            request.addfinalizer(lambda: None)

        def test_b(crashwindow, function, module):
            module.append("lost")

        def test_plain(function, module):
            assert os.getpid() == PYTEST
            assert module == ["test_a", "test_b", "test_plain"]
        """,
        "-s",
    )
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*module down [[]'test_a', 'test_b', 'test_plain'[]]*"])


def test_output_of_the_test_is_captured_and_shown(run: Run) -> None:
    source = """
        import sys
        def test_it(crashwindow):
            print("to stdout")
            print("to stderr", file=sys.stderr)
            assert False
        """
    result = run(source)
    result.stdout.fnmatch_lines(["*- Captured stdout call -*", "to stdout", "*- Captured stderr call -*", "to stderr"])
    assert result.outlines.count("to stdout") == 1
    for option in ("-s", "--capture=sys", "--capture=tee-sys"):
        result = run(source, option)
        assert "to stdout" in result.stdout.str()
        result.assert_outcomes(failed=1)


def test_warnings_are_counted_once(run: Run) -> None:
    result = run(
        """
        import warnings

        def test_it(crashwindow):
            warnings.warn("only once", UserWarning)
            crashwindow.run(lambda: 1)
        """
    )
    result.assert_outcomes(passed=1, warnings=1)
    assert result.stdout.str().count("UserWarning: only once") == 1


def test_warnings_as_errors_fail_the_test(run: Run) -> None:
    result = run("import warnings\ndef test_it(crashwindow): warnings.warn('careful')", "-W", "error")
    result.assert_outcomes(failed=1)


def test_in_development_mode_and_with_warnings_as_errors_there_are_none(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDEVMODE", "1")
    result = run(
        """
        import sys, threading, pytest

        @pytest.fixture
        def life(crashwindow):
            return crashwindow.start(threading.Event().wait)

        def test_it(crashwindow, life):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
            assert crashwindow.run(sys.audit, "shop.a", crash_at="shop.a").crashed
            assert crashwindow.run(sys.audit, "shop.a", pause_at="shop.a").paused
            ended = crashwindow.run(sys.audit, "shop.a")
            assert ended.outcome == "returned" and not ended.stderr
        """,
        "-W",
        "error",
    )
    result.assert_outcomes(passed=1)
    assert "Warning" not in result.stdout.str() + result.stderr.str()


def test_pytest_exit_ends_the_run(run: Run) -> None:
    result = run(
        """
        import pytest
        def test_first(crashwindow): pytest.exit("enough for today", returncode=9)
        def test_second(): pass
        """
    )
    assert result.ret == 9
    result.stdout.fnmatch_lines(["*enough for today*"])


def test_stop_at_first_failure(run: Run) -> None:
    result = run("def test_a(crashwindow): assert 0\ndef test_b(crashwindow): pass", "-x")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*stopping after 1 failures*"])


def test_a_failing_body_asked_the_session_to_stop(run: Run) -> None:
    result = run(
        """
        def test_a(crashwindow, request): request.session.shouldstop = "asked to"
        def test_b(): pass
        """
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*asked to*"])


def test_last_failed(run: Run) -> None:
    source = "def test_a(crashwindow): assert 0\ndef test_b(crashwindow): pass"
    run(source)
    result = run(source, "--lf")
    result.assert_outcomes(failed=1)


def test_set_up_options(run: Run) -> None:
    for option in ("--setup-only", "--setup-plan", "--setup-show"):
        result = run("def test_it(crashwindow): assert crashwindow.run(lambda: 1).value == 1", option)
        assert result.ret == 0
        result.stdout.fnmatch_lines(["*SETUP    F crashwindow*"])


def test_properties_and_junit(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_passes(crashwindow, record_property):
            record_property("answer", 42)
            crashwindow.run(print, "in the life")

        def test_fails(crashwindow):
            print("to stdout")
            assert 1 == 2
        """
    )
    pytester.runpytest_subprocess(*WITHOUT_OTHERS, "--junitxml=report.xml").assert_outcomes(passed=1, failed=1)
    cases = ElementTree.parse(pytester.path / "report.xml").getroot().iter("testcase")
    passes, fails = cases
    assert [(p.get("name"), p.get("value")) for p in passes.iter("property")] == [("answer", "42")]
    assert passes.find("failure") is None
    failure = fails.find("failure")
    assert failure is not None
    assert "assert 1 == 2" in (failure.get("message") or "")


def test_durations_and_verbose(run: Run) -> None:
    result = run("def test_it(crashwindow): crashwindow.run(print)", "-v", "--durations=0", "-vv")
    result.stdout.fnmatch_lines(["*test_it.py::test_it PASSED*", "*call*test_it.py::test_it"])


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="subtests came with pytest 9")
def test_subtests(run: Run) -> None:
    result = run(
        """
        def test_it(crashwindow, subtests):
            for n in range(3):
                with subtests.test(n=n):
                    assert crashwindow.run(lambda: n).value != 1
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*SUBFAILED*n=1*"])


def test_async_tests(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pytest_asyncio")
    pytester.makepyfile(
        """
        import asyncio, pytest

        async def target(value):
            await asyncio.sleep(0)
            return value

        @pytest.fixture
        def value(): return 3

        @pytest.mark.asyncio
        async def test_it(crashwindow, value):
            await asyncio.sleep(0)
            assert crashwindow.run(target, value).value == 3
            life = await asyncio.to_thread(crashwindow.run, target, value)
            assert life.value == 3

        @pytest.mark.asyncio
        async def test_fails(crashwindow):
            assert crashwindow.run(target, 1).value == 2
        """
    )
    args = ("-p", "no:randomly", "-p", "no:xdist", "-o", "asyncio_default_fixture_loop_scope=function")
    pytester.runpytest_subprocess(*args).assert_outcomes(passed=1, failed=1)


def test_two_runs_in_one_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys, pytest

        @pytest.mark.crash_at("shop.a")
        def test_it(crashwindow):
            assert crashwindow.run(sys.audit, "shop.a").crashed
        """
    )
    for _ in range(2):
        pytester.runpytest_inprocess(*WITHOUT_OTHERS).assert_outcomes(passed=1)


def test_doctest_and_other_items_are_left_alone(run: Run) -> None:
    documented = 'def f():\n    """\n    >>> 1 + 1\n    2\n    """\n'
    result = run(documented + "def test_it(crashwindow): pass", "--doctest-modules")
    result.assert_outcomes(passed=2)
