"""What the browser tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .driving import browser, chromium, sweep_of_demo


def _missing() -> str:
    if chromium() is None:
        return "no Chromium found; install it (Debian: apt-get install chromium) or name it with CHROMIUM=/path"
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as error:
        return f"{error}; pip install playwright axe-playwright-python"
    return ""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    """The browser; a test run without one skips, one in CI fails."""
    missing = _missing()
    if missing and os.environ.get("CI"):
        pytest.fail(missing, pytrace=False)
    if missing:
        pytest.skip(missing)
    with browser() as started:
        yield started


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a real sweep with holes in it."""
    return sweep_of_demo(tmp_path_factory.mktemp("demo")) / "report.html"
