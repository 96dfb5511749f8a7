"""Starting Chromium, and the reports that it is shown."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

DEMO = Path(__file__).parent / "demo" / "shop.py"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str | None:
    """Where it is."""
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """One with a fresh user directory."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield started
        finally:
            started.close()


def sweep_of_demo(folder: Path, *reports: str) -> Path:
    """The demo swept in a process of its own; the folder with its reports."""
    shutil.copy(DEMO, folder / "test_shop.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    flags = [f"--crashwindow-report={name}" for name in reports or ("report.html",)]
    plain = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:asyncio")
    subprocess.run([sys.executable, "-m", "pytest", "-q", *plain, *flags], cwd=folder, capture_output=True, check=False)
    return folder


def address(page: Path, window: str = "", step: int | None = None) -> str:
    """Of a page, or of a window in it."""
    at = f"#w={quote(window, safe='')}" if window else ""
    return f"{page.as_uri()}{at}" + (f"&s={step}" if step is not None else "")
