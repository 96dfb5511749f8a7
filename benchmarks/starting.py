"""Installed and unused: what the plugin adds to pytest's start."""

from __future__ import annotations

import statistics
import subprocess
import sys

from .measuring import table


def importing(repeat: int) -> None:
    """Importing pytest, and the plugin on top of it."""
    code = (
        "import time; a = time.perf_counter(); import pytest; b = time.perf_counter(); "
        "import pytest_crashwindow.plugin; c = time.perf_counter(); print(b - a, c - b)"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code]).split() for _ in range(repeat)]
    pytest_alone, plugin = (statistics.median(float(run[i]) for run in runs) for i in (0, 1))
    table("Start-up", [("import pytest", pytest_alone), ("import the plugin on top", plugin)], "ms")
