"""No text of the plugin is without a golden one: what is said to users has been read by somebody."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_crashwindow

from .conftest import GOLDEN
from .finding import Text, on_one_line, texts_in, texts_of

PACKAGE = Path(pytest_crashwindow.__file__).parent

EXCEPTIONS: dict[str, str] = {}
"""beginnings of texts that no golden text has -> why"""


@pytest.fixture(scope="module")
def told() -> str:
    """All golden texts."""
    return "\n".join(on_one_line(file.read_text(encoding="utf-8")) for file in sorted(GOLDEN.glob("*.txt")))


def _excepted(text: Text) -> list[str]:
    return [beginning for beginning in EXCEPTIONS if str(text).strip().startswith(beginning)]


def test_every_text_has_a_golden_one(told: str) -> None:
    missing = [text for text in texts_of(PACKAGE) if not text.is_in(told) and not _excepted(text)]
    assert not missing, "no golden text has:\n" + "\n".join(f"  {text.place}  {str(text)!r}" for text in missing)


def test_no_exception_outlives_its_reason(told: str) -> None:
    needed = {beginning for text in texts_of(PACKAGE) if not text.is_in(told) for beginning in _excepted(text)}
    assert needed == EXCEPTIONS.keys()
