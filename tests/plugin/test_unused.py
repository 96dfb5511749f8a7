"""Installed and unused, nobody notices the plugin."""

from __future__ import annotations

import pytest

from .conftest import WITHOUT_OTHERS

WATCH = """
    import sys

    added = []

    def pytest_configure():
        import os, subprocess, http.client, sqlite3
        global before
        before = snapshot()
        sys.addaudithook(lambda event, args: added.append(args) if event == "sys.addaudithook" else None)

    def snapshot():
        import builtins, os, sqlite3, subprocess, http.client
        return [dict(vars(thing)) for thing in
                (builtins, os, sqlite3, sqlite3.Connection, sqlite3.Cursor, subprocess, subprocess.Popen,
                 http.client.HTTPConnection)]

    def pytest_unconfigure():
        assert not added, "an audit hook was added"
        assert snapshot() == before, "something is patched"
        loaded = [name for name in sys.modules if name.startswith("pytest_crashwindow.")]
        assert set(loaded) <= {"pytest_crashwindow.plugin", "pytest_crashwindow.settings",
                               "pytest_crashwindow.hookspecs", "pytest_crashwindow.collecting",
                               "pytest_crashwindow.unfinished"}, loaded
"""


@pytest.mark.parametrize("args", [(), ("-v",), ("-q",), ("--collect-only",)], ids=lambda args: "".join(args) or "plain")
def test_it_prints_nothing_patches_nothing_and_adds_no_audit_hook(
    pytester: pytest.Pytester, args: tuple[str, ...]
) -> None:
    pytester.makeconftest(WATCH)
    pytester.makepyfile("def test_it(tmp_path): pass")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, *args)
    assert result.ret == 0
    said = [line for line in result.outlines if not line.startswith(("plugins:", "rootdir:"))]
    assert "crash" not in "\n".join(said).replace("test_it_prints_nothing_patches", "")
    assert result.errlines == []


def test_a_run_that_uses_it_says_nothing_either_when_all_is_well(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(crashwindow): crashwindow.run(print, 'hello')")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS)
    said = [line for line in result.outlines if not line.startswith(("plugins:", "rootdir:"))]
    assert "crash" not in "\n".join(said)
    assert "hello" not in "\n".join(said)


@pytest.mark.parametrize(
    "missing", ["no:cacheprovider", "no:terminal", "no:timeout", "no:logging", "no:capture", "no:xdist"]
)
def test_it_works_without(pytester: pytest.Pytester, missing: str) -> None:
    pytester.makepyfile("def test_it(crashwindow): assert crashwindow.run(lambda: 1).value == 1")
    assert pytester.runpytest_subprocess("-p", missing).ret == 0


def test_it_can_be_turned_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(request): assert not request.config.pluginmanager.hasplugin('crashwindow')")
    assert pytester.runpytest_subprocess("-p", "no:crashwindow").ret == 0


def test_without_autoload_it_is_loaded_by_name(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile("def test_it(crashwindow): assert crashwindow.run(lambda: 1).value == 1")
    assert pytester.runpytest_subprocess("-p", "pytest_crashwindow.plugin").ret == 0


def test_importing_the_package_does_not_import_pytest(pytester: pytest.Pytester) -> None:
    code = "import sys, pytest_crashwindow; assert not [m for m in sys.modules if m.startswith(('pytest.', '_pytest'))]"
    assert pytester.runpython_c(code).ret == 0
