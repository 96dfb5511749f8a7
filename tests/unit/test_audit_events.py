"""That the list of CPython's own audit events is complete, for the interpreter that runs the tests."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_crashwindow.audit_events import CPYTHON_EVENTS


def test_no_operation_of_the_standard_library_raises_an_unknown_event(tmp_path: Path) -> None:
    script = Path(__file__).with_name("stdlib_operations.py")
    environment = {**os.environ, "BROWSER": "true", "PYTHONWARNINGS": "ignore"}
    run = subprocess.run(
        [sys.executable, script, tmp_path / "events"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    done = [line for line in run.stdout.splitlines() if line.startswith("done")]
    assert done == [f"done {name}" for name in ("files", "processes", "network", "interpreter", "foreign")], run.stderr
    seen = set((tmp_path / "events").read_text().split())
    assert seen - CPYTHON_EVENTS == set()
    assert len(seen) > 80  # it did run


def audited(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)) and node.args:
            name = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
            first = node.args[0]
            if name == "audit" and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def test_all_events_that_the_python_files_of_the_library_raise_are_known() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    left_out = {"site-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__", "dist-packages"}
    found = {
        event
        for path in library.rglob("*.py")
        if not left_out & set(path.relative_to(library).parts) and b"audit(" in path.read_bytes()
        for event in audited(path)
    }
    assert found - CPYTHON_EVENTS == set()
    assert {"glob.glob", "subprocess.Popen"} <= found  # it did look


@pytest.mark.parametrize(
    "event",
    ["email.sent", "queue.job.done", "calendar.booked", "code.issued", "os.order.placed", "http.request"],
)
def test_names_that_only_look_like_modules_are_somebodys_own(event: str) -> None:
    assert event not in CPYTHON_EVENTS


@pytest.mark.parametrize(
    "event",
    [
        "sys._getframemodulename",
        "sys.set_asyncgen_hook_firstiter",
        "sys.set_asyncgen_hooks_firstiter",
        "os.listxattr",
        "_thread.start_joinable_thread",
        "mmap.__new__",
        "marshal.load",
        "marshal.loads",
        "open",
        "import",
        "object.__getattr__",
        "socket.__new__",
        "sqlite3.connect/handle",
        "cpython.remote_debugger_script",
    ],
)
def test_names_that_are_missed_easily(event: str) -> None:
    assert event in CPYTHON_EVENTS
