"""`--crashwindow-report`: which paths it takes, what it says, and what it leaves alone."""

from __future__ import annotations

import pytest

from .conftest import Run
from .reporting import read
from .sweeping import WORK, section


def test_several_at_once_and_the_terminal_says_where(run: Run, pytester: pytest.Pytester) -> None:
    result = run(WORK, *(f"--crashwindow-report=out/x{suffix}" for suffix in (".html", ".json", ".md")))
    assert sorted(path.name for path in (pytester.path / "out").iterdir()) == ["x.html", "x.json", "x.md"]
    assert section(result)[-3:] == [f"crash windows: report in out/x{suffix}" for suffix in (".html", ".json", ".md")]


def test_from_the_environment_and_ini(run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\ncrashwindow_report =\n  a.json\n  a.md")
    run(WORK)
    assert (pytester.path / "a.json").exists()
    assert (pytester.path / "a.md").exists()
    monkeypatch.setenv("CRASHWINDOW_REPORT", "b.json")
    (pytester.path / "a.md").unlink()
    run(WORK)
    assert (pytester.path / "b.json").exists()
    assert not (pytester.path / "a.md").exists()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("x.txt", "*--crashwindow-report: x.txt: a report's name ends in .html or .json or .md*"),
        ("report", "*--crashwindow-report: report: a report's name ends in .html or .json or .md*"),
        ("file/x.json", "*--crashwindow-report: file/x.json: its directory can't be made*"),
        ("folder.md", "*--crashwindow-report: folder.md: is a directory*"),
    ],
)
def test_a_path_that_cannot_be_used_ends_the_run_at_once(
    run: Run, pytester: pytest.Pytester, path: str, said: str
) -> None:
    (pytester.path / "file").touch()
    (pytester.path / "folder.md").mkdir()
    result = run("def test_it(): print('ran')", f"--crashwindow-report={path}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_without_a_sweep_nothing_is_said_and_the_files_are_valid(run: Run, pytester: pytest.Pytester) -> None:
    result = run("def test_it(): pass", *(f"--crashwindow-report=x{suffix}" for suffix in (".html", ".json", ".md")))
    assert "crash" not in result.stdout.str().partition("collected")[2]
    assert read(pytester.path / "x.json")["tests"] == []
    assert (pytester.path / "x.md").read_text().startswith("## Crash windows: no sweep ran")
    assert "</html>" in (pytester.path / "x.html").read_text()


def test_a_report_of_before_is_replaced_as_a_whole(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "x.md").write_text("x" * 100_000)
    run(WORK, "--crashwindow-report=x.md")
    assert "xxx" not in (pytester.path / "x.md").read_text()
    assert not list(pytester.path.glob(".x.md*"))


def test_collecting_alone_keeps_the_report_of_before(run: Run, pytester: pytest.Pytester) -> None:
    (pytester.path / "x.md").write_text("before")
    run(WORK, "--collect-only", "--crashwindow-report=x.md")
    assert (pytester.path / "x.md").read_text() == "before"


def test_a_folder_that_vanishes_during_the_run_is_said(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import shutil
        def pytest_runtest_logfinish(nodeid):
            shutil.rmtree("out", ignore_errors=True)
        """
    )
    result = run(WORK, "--crashwindow-report=out/x.md")
    assert section(result)[-1] == "crash windows: no report in out/x.md: No such file or directory"
    result.assert_outcomes(passed=2, failed=2)


def test_without_the_option_nothing_is_gathered(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import sys
        def pytest_runtest_logreport(report):
            record = getattr(report, "crashwindow_record", {})
            assert "timeline" not in record and "failure" not in record

        def pytest_unconfigure(config):
            assert not config.pluginmanager.hasplugin("crashwindow-reports")
            assert "pytest_crashwindow.report.writing" not in sys.modules
        """
    )
    run(WORK).assert_outcomes(passed=2, failed=2)
