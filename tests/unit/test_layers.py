"""The core knows nothing of pytest, and what runs inside lives is standard library only."""

from __future__ import annotations

import subprocess
import sys

import pytest

CORE = ["fixture", "sweep", "installing", "probes", "faults", "record", "state", "sharing", "report.matrix"]


@pytest.mark.parametrize("module", ["", *CORE])
def test_the_core_imports_no_pytest(module: str) -> None:
    name = f"pytest_crashwindow.{module}".rstrip(".")
    code = (
        f"import sys, {name}\n"
        "ours = {m.partition('.')[0] for m in sys.modules} - set(sys.stdlib_module_names) - {'pytest_crashwindow'}\n"
        "print([m for m in sorted(ours) if not m.startswith('_')])"
    )
    told = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=_root())
    assert told.stdout.strip() == "[]"


def _root() -> str:
    import pytest_crashwindow

    return pytest_crashwindow.__file__.rpartition("/pytest_crashwindow/")[0]
