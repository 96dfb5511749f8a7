"""Of all tests: what the runs of pytest that they start have in common."""

from __future__ import annotations

import os

# anyio's pytest plugin, which comes with httpx, doubles the start of every pytest, and hundreds are started.
os.environ["PYTEST_ADDOPTS"] = f"{os.environ.get('PYTEST_ADDOPTS', '')} -p no:anyio".strip()

# Without bytecode each of them would compile the plugin anew, which no installed package has to.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
