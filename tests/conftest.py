"""Of all tests: what the runs of pytest that they start have in common."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

# anyio's pytest plugin, which comes with httpx, doubles the start of every pytest, and hundreds are started.
os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} -p no:anyio".strip()

# They write no bytecode: two versions of a test's module may be of the same second and size, and be taken for one.
# Without any, though, each of them would compile the plugin anew, which no installed package has to.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
if "PYTEST_XDIST_WORKER" not in os.environ:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "conftest.py").write_text(
            "import importlib, pkgutil, pytest_crashwindow as package\n"
            "for module in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):\n"
            "    importlib.import_module(module.name)\n"
        )
        # By a pytest, which keeps bytecode of its own kind of plugins.
        subprocess.run([sys.executable, "-m", "pytest", folder], cwd=folder, capture_output=True, check=False)
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
