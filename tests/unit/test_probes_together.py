from __future__ import annotations

import contextlib
import io
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from probing import Ended

from pytest_crashwindow.installing import install
from pytest_crashwindow.points import Selection
from pytest_crashwindow.probes import BUILT_IN
from pytest_crashwindow.record import read_trace
from pytest_crashwindow.tracker import Lifeline, Orders, Tracker


def test_names_and_calls_are_unique() -> None:
    names = [probe.name for probe in BUILT_IN]
    calls = [call for probe in BUILT_IN for call in probe.calls]
    assert len(set(names)) == len(names)
    assert len(set(calls)) == len(calls)
    assert all(set(probe.only_by_name) <= set(probe.calls) for probe in BUILT_IN)


def test_they_need_the_standard_library_only() -> None:
    program = (
        "import sys; before = set(sys.modules); import pytest_crashwindow.probes\n"
        "own = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(own - set(sys.stdlib_module_names) - {'pytest_crashwindow'})"
    )
    root = Path(sys.modules["pytest_crashwindow"].__file__ or "").parent.parent
    ran = subprocess.run([sys.executable, "-S", "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


def test_one_program_that_passes_all_of_them(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (tmp_path / "fired").mkdir()

    def program() -> None:
        with contextlib.closing(sqlite3.connect(state / "shop.db")) as connection:
            connection.execute("create table t (x)")
        with open(state / "a.tmp", "w") as file:
            json.dump({}, file)
        os.replace(state / "a.tmp", state / "a")
        subprocess.run(["true"], check=True)

    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            tracker = Tracker()
            install(tracker, BUILT_IN, [])
            selection = Selection((), frozenset(call for probe in BUILT_IN for call in probe.only_by_name))
            tracker.begin(
                Orders(tmp_path, [], selection, state=[state]),
                Lifeline("life", os.getpid(), -1, -1, tmp_path / "stacks"),
            )
            program()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    ended = Ended(read_trace(tmp_path / "trace"), 0)
    calls = ["sqlite3.commit", "open", "file.write", "os.replace", "subprocess.Popen"]
    assert ended.points == [f"{call}:{end}" for call in calls for end in ("enter", "exit")]


def test_uninstalled_nothing_is_left(tmp_path: Path) -> None:
    def seen() -> tuple[object, ...]:  # in a list, their names would be rebound
        return (
            *(vars(sqlite3.Connection)[name] for name in ("commit", "execute", "isolation_level")),
            *(vars(io.FileIO)[name] for name in ("__init__", "write")),
            *(os.rename, os.open, subprocess.Popen.__init__.__code__),
        )

    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            before = seen()
            installed = install(Tracker(), BUILT_IN, [])
            while_installed = seen()
            installed.uninstall()
            assert all(new is not old for new, old in zip(while_installed, before, strict=True))
            assert all(new is old for new, old in zip(seen(), before, strict=True))
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("probe", BUILT_IN, ids=lambda probe: probe.name)
def test_what_is_not_covered_is_said(probe: object) -> None:
    assert type(probe).__doc__
