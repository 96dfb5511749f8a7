"""Options: each as a flag, in the environment and in every kind of configuration file."""

from __future__ import annotations

import textwrap

import pytest

from .conftest import WITHOUT_OTHERS

SHOW = """
def test_show(crashwindow, request):
    from pytest_crashwindow.plugin import SETTINGS
    settings = request.config.stash[SETTINGS]
    print()
    for name in ("points", "calls", "probes", "life_timeout", "death", "off"):
        print(f"{name}={getattr(settings, name)!r}")
"""

DEFAULTS = {"points": "()", "calls": "()", "probes": "None", "life_timeout": "30.0", "death": "'kill'", "off": "False"}

INI = """
crashwindow_points = shop.*
    !shop.poll
crashwindow_calls = json:loads
crashwindow_probes = sqlite3
crashwindow_life_timeout = 2.5
crashwindow_death = exit
crashwindow_off = true
"""
STRINGS = """
crashwindow_points = ["shop.*", "!shop.poll"]
crashwindow_calls = ["json:loads"]
crashwindow_probes = ["sqlite3"]
crashwindow_life_timeout = "2.5"
crashwindow_death = "exit"
crashwindow_off = true
"""
GIVEN = {
    "points": "('shop.*', '!shop.poll')",
    "calls": "('json:loads',)",
    "probes": "('sqlite3',)",
    "life_timeout": "2.5",
    "death": "'exit'",
    "off": "True",
}


def settings_of(pytester: pytest.Pytester, *args: str) -> dict[str, str]:
    pytester.makepyfile(SHOW)
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, "-s", *args)
    result.assert_outcomes(passed=1)
    shown = (line.partition("=") for line in result.outlines)
    return {name: value for name, _, value in shown if name in DEFAULTS}


def refused(pytester: pytest.Pytester, *args: str) -> str:
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return result.stderr.str().strip()


def toml(pytester: pytest.Pytester, table: str, text: str) -> None:
    pytester.makefile(".toml", pyproject=f"[{table}]\n{text}")


# -- where they can be given ---------------------------------------------------------------------


def test_defaults(pytester: pytest.Pytester) -> None:
    assert settings_of(pytester) == DEFAULTS


def test_pytest_ini(pytester: pytest.Pytester) -> None:
    pytester.makeini(f"[pytest]{INI}")
    assert settings_of(pytester) == GIVEN


def test_ini_options_of_pyproject(pytester: pytest.Pytester) -> None:
    toml(pytester, "tool.pytest.ini_options", STRINGS)
    assert settings_of(pytester) == GIVEN


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="[tool.pytest] came with pytest 9")
def test_native_table_of_pyproject(pytester: pytest.Pytester) -> None:
    toml(pytester, "tool.pytest", STRINGS.replace('"2.5"', "2.5"))
    assert settings_of(pytester) == GIVEN


def test_environment(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "POINTS": "shop.*,!shop.poll",
        "CALLS": "json:loads",
        "PROBES": "sqlite3",
        "LIFE_TIMEOUT": "2.5",
        "DEATH": "exit",
        "OFF": "1",
    }.items():
        monkeypatch.setenv(f"CRASHWINDOW_{name}", value)
    assert settings_of(pytester) == GIVEN


def test_command_line(pytester: pytest.Pytester) -> None:
    shown = settings_of(pytester, "--crashwindow-life-timeout=2.5", "--crashwindow-death", "exit", "--crashwindow-off")
    assert shown == DEFAULTS | {name: GIVEN[name] for name in ("life_timeout", "death", "off")}


def test_command_line_over_environment_over_ini(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\ncrashwindow_life_timeout = 1\ncrashwindow_death = exit\ncrashwindow_off = true")
    monkeypatch.setenv("CRASHWINDOW_LIFE_TIMEOUT", "2")
    monkeypatch.setenv("CRASHWINDOW_OFF", "0")
    shown = settings_of(pytester, "--crashwindow-life-timeout=3")
    assert (shown["life_timeout"], shown["death"], shown["off"]) == ("3.0", "'exit'", "False")


def test_the_override_flag_of_pytest(pytester: pytest.Pytester) -> None:
    assert settings_of(pytester, "-o", "crashwindow_death=exit")["death"] == "'exit'"


# -- wrong values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--crashwindow-life-timeout=0", "--crashwindow-life-timeout: expected a number of seconds above 0, got '0'"),
        ("--crashwindow-life-timeout=x", "--crashwindow-life-timeout: expected a number of seconds above 0, got 'x'"),
        ("--crashwindow-life-timeout=inf", "--crashwindow-life-timeout: expected a number of seconds *, got 'inf'"),
        ("--crashwindow-life-timeout=nan", "--crashwindow-life-timeout: expected a number of seconds *, got 'nan'"),
        ("--crashwindow-death=kil", "--crashwindow-death: expected one of kill, exit, got 'kil'; did you mean 'kill'?"),
        ("--crashwindow-deth=kill", "usage: *"),
    ],
)
def test_a_wrong_flag_is_a_usage_error(pytester: pytest.Pytester, flag: str, message: str) -> None:
    pytest.LineMatcher(refused(pytester, flag).splitlines()).fnmatch_lines([f"ERROR: {message}"])


def test_a_wrong_value_in_the_environment_says_where_it_came_from(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRASHWINDOW_DEATH", "now")
    assert refused(pytester) == "ERROR: CRASHWINDOW_DEATH: expected one of kill, exit, got 'now'"


def test_a_wrong_value_in_a_file_says_in_which(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncrashwindow_life_timeout = soon")
    text = "ERROR: crashwindow_life_timeout in tox.ini: expected a number of seconds above 0, got 'soon'"
    assert refused(pytester) == text


def test_a_misspelt_name_in_a_file_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncrashwindow_dept = 2")
    assert refused(pytester) == "ERROR: unknown setting crashwindow_dept in tox.ini; did you mean crashwindow_depth?"


def test_a_setting_of_another_plugin_is_none_of_ours(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncrashwindow_broker = kafka")
    pytester.makeconftest("def pytest_addoption(parser): parser.addini('crashwindow_broker', 'where it runs')")
    pytester.makepyfile("def test_it(pytestconfig): assert pytestconfig.getini('crashwindow_broker') == 'kafka'")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


@pytest.mark.skipif(pytest.version_tuple < (9,), reason="[tool.pytest] came with pytest 9")
@pytest.mark.parametrize(
    "text", ['crashwindow_points = "shop"', 'crashwindow_life_timeout = "1"', 'crashwindow_off = "perhaps"']
)
def test_a_wrong_type_in_the_native_table_names_file_and_key(pytester: pytest.Pytester, text: str) -> None:
    toml(pytester, "tool.pytest", text)
    said = refused(pytester)
    assert said.startswith("ERROR: ")
    assert text.split(" ")[0] in said
    assert "pyproject.toml" in said


def test_wrong_values_are_found_though_no_test_uses_the_plugin(pytester: pytest.Pytester) -> None:
    assert "CRASHWINDOW" not in refused(pytester, "-q", "--crashwindow-death=x")


def test_a_misspelled_variable_is_a_usage_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASHWINDOW_LIVE_TIMEOUT", "1")
    unknown, meant = refused(pytester).split("; ")
    assert unknown == "ERROR: unknown environment variable CRASHWINDOW_LIVE_TIMEOUT"
    assert meant == "did you mean CRASHWINDOW_LIFE_TIMEOUT?"


def test_an_unknown_probe_is_a_usage_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(crashwindow): pass")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, "-o", "crashwindow_probes=sqlite")
    assert result.ret != 0
    text = result.stdout.str() + result.stderr.str()
    assert "-o crashwindow_probes: unknown probe 'sqlite'; did you mean 'sqlite3'? There are: " in text
    assert "INTERNALERROR" not in text


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("crashwindow_probes = sqlite", "unknown probe 'sqlite'; did you mean 'sqlite3'?"),
        ("crashwindow_calls = json.loads", "'json.loads' is no call: *; did you mean json:loads?"),
        ("crashwindow_window = shop.paid", "'shop.paid' is no window id; *"),
        ("crashwindow_window = shop.paid+1:crush", "no fault 'crush'; *"),
        ("crashwindow_report = report.txt", "report.txt: a report's name ends in *"),
    ],
)
@pytest.mark.parametrize("in_environment", [False, True])
def test_a_value_that_means_nothing_is_told_with_where_it_came_from(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, setting: str, complaint: str, in_environment: bool
) -> None:
    name, value = setting.split(" = ")
    source = f"{name} in pytest.ini"
    if in_environment:
        source = name.upper()
        monkeypatch.setenv(source, value)
    else:
        pytester.makefile(".ini", pytest=f"[pytest]\n{setting}\n")
    pytester.makepyfile("def test_it(crashwindow): pass")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {source}: {complaint}*"])


def test_a_call_of_the_ini_that_does_not_exist_is_an_error_of_the_tests_that_use_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(crashwindow): pass\ndef test_other(): pass")
    result = pytester.runpytest_subprocess(*WITHOUT_OTHERS, "-o", "crashwindow_calls=json:laods")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["json:laods: the module json has no 'laods'; did you mean load*"])


def test_help_lists_the_options_in_a_group_of_their_own(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--help")
    result.stdout.fnmatch_lines(["crash windows:", "*--crashwindow-death*"])
    result.stdout.fnmatch_lines(["*crashwindow_points (linelist):*"])


# -- what they do --------------------------------------------------------------------------------


def test_points_select_what_is_recorded(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        textwrap.dedent(
            """
            import sys

            def passes():
                for name in ("shop.paid", "shop.poll", "other.a"):
                    sys.audit(name)

            def test_it(crashwindow):
                assert crashwindow.run(passes).hits == ["shop.paid+1"]

            def test_armed_points_count_in_any_case(crashwindow):
                assert crashwindow.run(passes, crash_at="other.a").hits == ["shop.paid+1", "other.a+1"]
            """
        )
    )
    pytester.makeini("[pytest]\ncrashwindow_points = shop.*\n    !shop.poll")
    pytester.runpytest_subprocess(*WITHOUT_OTHERS).assert_outcomes(passed=2)


def test_calls_attach_points(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        textwrap.dedent(
            """
            import json

            def test_it(crashwindow):
                assert crashwindow.run(json.loads, "1").hits == ["json:loads:enter+1", "json:loads:exit+1"]
            """
        )
    )
    pytester.makeini("[pytest]\ncrashwindow_calls = json:loads")
    pytester.runpytest_subprocess(*WITHOUT_OTHERS).assert_outcomes(passed=1)


def test_probes_can_be_chosen(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        textwrap.dedent(
            """
            import os, sqlite3

            def works(path):
                with sqlite3.connect(path / "db") as connection:
                    connection.execute("CREATE TABLE t (x)")
                connection.close()
                os.mkdir(path / "directory")

            def test_it(crashwindow, tmp_path):
                hits = crashwindow.run(works, tmp_path).hits
                assert {hit.partition(":")[0] for hit in hits} == {"sqlite3.commit"}
            """
        )
    )
    pytester.makeini("[pytest]\ncrashwindow_probes = sqlite3")
    pytester.runpytest_subprocess(*WITHOUT_OTHERS).assert_outcomes(passed=1)
