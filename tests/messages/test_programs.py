"""What a user is told: each program's transcript is the golden one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import PROGRAMS

NAMES = sorted(path.stem for path in PROGRAMS.iterdir() if path.name != "__pycache__")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_told_what_is_kept(
    name: str, transcript: Callable[[Path], str], golden: Callable[[str, str], None]
) -> None:
    folder = PROGRAMS / name
    golden(name, transcript(folder if folder.is_dir() else folder.with_suffix(".py")))
