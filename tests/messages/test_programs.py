"""What a user is told: each program's transcript is the golden one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from .conftest import GOLDEN, HERE, PROGRAMS, RENEW

ONLY_ON_LINUX = {"blocked", "guards_killed"}  # which tells who holds a lock, and what is below a process
NAMES = sorted(path.stem for path in PROGRAMS.iterdir() if path.name != "__pycache__")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_told_what_is_kept(
    name: str, transcript: Callable[[Path], str], golden: Callable[[str, str], None]
) -> None:
    if name in ONLY_ON_LINUX and sys.platform != "linux":
        pytest.skip("needs /proc")
    if name == "shared" and find_spec("xdist") is None:
        pytest.skip("needs xdist")
    folder = PROGRAMS / name
    golden(name, transcript(folder if folder.is_dir() else folder.with_suffix(".py")))


def test_no_golden_text_outlives_its_program() -> None:
    assert sorted(path.stem for path in GOLDEN.iterdir()) == NAMES


def test_golden_texts_are_not_renewed_in_ci() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", str(HERE), "--collect-only", "-q", "-p", "no:cacheprovider"],
        cwd=HERE.parents[1],
        env={**os.environ, RENEW: "1", "CI": "true"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == pytest.ExitCode.USAGE_ERROR
    assert "golden texts are renewed and read by people, not in CI" in ended.stderr
