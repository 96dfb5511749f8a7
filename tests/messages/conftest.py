"""What the tests of messages share: programs, what pytest says to them, and the texts kept of that.

Each file (or folder) of `programs/` is run as its comments `# $ pytest ...` say. What a user sees then is in
`golden/`, one text for each program. To write the texts anew:

    RENEW_MESSAGES=1 python -m pytest tests/messages

and then read what `git diff` shows with a user's eyes: a golden text is a promise about what people are told.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .normalising import normalised

HERE = Path(__file__).parent
PROGRAMS, GOLDEN = HERE / "programs", HERE / "golden"
RENEW = "RENEW_MESSAGES"

collect_ignore = [str(PROGRAMS)]  # their tests fail; that is what they are for

OPTIONS = ("--tb=short", "--no-header", "-rN", "-q", "-p", "crashwindow", "-p", "timeout")
ENVIRONMENT = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # whatever else is installed prints nothing and starts nothing
    "COLUMNS": "100",
    "NO_COLOR": "1",
}
OTHERS = ("CI", "BUILD_NUMBER", "COV_CORE_SOURCE", "FORCE_COLOR", "PY_COLORS", "PYTHONWARNINGS")
"""variables that change what pytest prints"""


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(RENEW) and os.environ.get("CI"):
        raise pytest.UsageError(f"{RENEW}: golden texts are renewed and read by people, not in CI")


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with the one that is kept under a name."""

    def check(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if os.environ.get(RENEW):
            path.write_text(text, encoding="utf-8")
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        assert text == kept, f"{path.name} says something else. If that is what users are to read: {RENEW}=1"

    return check


@pytest.fixture
def transcript(tmp_path: Path) -> Callable[[Path], str]:
    """Run a program's commands in a folder of its own; commands and answers, as a terminal shows them."""

    def run(program: Path) -> str:
        source = _copied(program, tmp_path / "project")
        _provide(tmp_path / "bin")
        told = [
            f"$ {command}\n{normalised(_answer(command, tmp_path), tmp_path).strip()}\n"
            for command in commands(source, program.stem)
        ]
        return "\n".join(told)

    return run


def commands(source: str, name: str) -> list[str]:
    """The commands that a program names in its comments; pytest on its file where it names none."""
    told = [line.removeprefix("# $ ") for line in source.splitlines() if line.startswith("# $ ")]
    return told or [f"pytest {name}.py"]


def _copied(program: Path, project: Path) -> str:
    """Copy a program to where it is run; the source that has its commands."""
    if program.is_dir():
        shutil.copytree(program, project, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        project.mkdir()
        shutil.copy(program, project)
    (project / "pytest.ini").write_text("[pytest]\n")  # so that no setting from above the folder counts
    return (program / "test_it.py" if program.is_dir() else program).read_text(encoding="utf-8")


def _provide(folder: Path) -> None:
    """Make `python` and `pytest` those of this environment."""
    folder.mkdir()
    for name, options in (("python", ""), ("pytest", "-m pytest")):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {options} "$@"\n')
        script.chmod(0o755)


def _answer(command: str, tmp_path: Path) -> str:
    """What a command prints in a shell."""
    kept = {name: value for name, value in os.environ.items() if name not in OTHERS and "CRASHWINDOW" not in name}
    environment = {
        **kept,
        **ENVIRONMENT,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{kept['PATH']}",
        "PYTEST_ADDOPTS": shlex.join([*OPTIONS, f"--basetemp={tmp_path / 'tmp'}"]),
    }
    ended = subprocess.run(
        command,
        shell=True,
        cwd=tmp_path / "project",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return ended.stdout
