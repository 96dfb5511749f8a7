"""Taking out of pytest's output what varies from run to run, between machines, and between versions."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest_crashwindow

_PACKAGE = Path(pytest_crashwindow.__file__).parent

_VARIES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r" *\d+\.\d ms(?=  )", "      0.0 ms"),
    (r"\(pid \d+\)", "(pid 1)"),
    (r"\b0x[0-9a-f]{6,}", "0x1"),
    (r"\bin \d+\.\d+s\b(?: \([\d:]+\))?", "in 0.00s"),
    (r"\bin \d+\.\d s; .*(?=</sub>)", "in 0.0 s; pytest-crashwindow, pytest, python"),
    (r"^slow: .*\n", ""),  # on a busy machine anything may be slow,
    (r"(?<=[.FEsxX])\n^crash windows: \d+ of \d+ known, .* per s\n", ""),  # and come to tell how far it is
    (r"^([.FEsxX]+) +\[100%\]$", lambda line: f"{line[1]:93}[100%]"),
    (r"^(?:E )?[ ~^]*[~^][ ~^]*\n", ""),  # where in the line it happened, which versions of Python tell differently
    (r"-- \S+(?=pytest_crashwindow/plugin\.py:)", "-- "),
    (r'(pytest_crashwindow/\w+\.py(?::|", line ))\d+', r"\g<1>1"),
    (r"^(/python/\S+\.py):\d+(?=: in )", r"\g<1>:1"),
    (r"[ \t]+$", ""),
)


def normalised(text: str, tmp_path: Path) -> str:
    """`text` as it is on every machine; `tmp_path` holds the folder `project` and the temporary files."""
    for long, short in _places(tmp_path).items():
        text = text.replace(long, short)
    for pattern, instead in _VARIES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


def _places(tmp_path: Path) -> dict[str, str]:
    paths = sysconfig.get_paths()
    return {
        f"{tmp_path}/": "/",
        f"{_PACKAGE}/": "/site-packages/pytest_crashwindow/",
        f"{paths['purelib']}/": "/site-packages/",
        f"{paths['stdlib']}/": "/python/",
    }
