"""`--pdb` stops in the world that failed."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time

import pytest

from .conftest import WITHOUT_OTHERS
from .sweeping import WORK
from .waiting import DEADLINE


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self._fd, inner = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1"}
        self._process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, start_new_session=True, env=environment
        )
        os.close(inner)
        self.text = ""

    def expect(self, wanted: str) -> str:
        """Read until the text comes; what was read before it."""
        end = time.monotonic() + DEADLINE
        while wanted not in self.text:
            assert time.monotonic() < end, f"{wanted!r} did not come:\n{self.text}"
            if select.select([self._fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self._fd, 4096).decode(errors="replace")
                except OSError:  # its other end is closed
                    assert wanted in self.text, f"{wanted!r} did not come:\n{self.text}"
        before, _, self.text = self.text.partition(wanted)
        return before

    def say(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")

    def end(self) -> int:
        status = self._process.wait(DEADLINE)
        os.close(self._fd)
        return status


@pytest.fixture
def debugged(pytester: pytest.Pytester) -> Terminal:
    pytester.makepyfile(test_it=WORK)
    return Terminal([sys.executable, "-m", "pytest", *WITHOUT_OTHERS, "--pdb", "-v", "--timeout=60"])


def test_it_stops_where_the_window_failed_and_goes_on(debugged: Terminal) -> None:
    before = debugged.expect("(Pdb) ")
    assert "test_work[work.a+1:crash] PASSED" in before
    assert '>       assert (tmp_path / "done").exists()' in before
    debugged.say("p str(crashwindow.window), sorted(p.name for p in tmp_path.iterdir())")
    assert "('work.b+1:crash', ['begun'])" in debugged.expect("(Pdb) ")
    debugged.say("c")
    rest = debugged.expect("in ")
    assert "test_work[work.b+1:crash] FAILED" in rest
    assert "test_work[work.c+1:crash] PASSED" in rest
    assert "2 failed, 2 passed" in rest
    assert debugged.end() == 1


def test_quitting_ends_the_run(debugged: Terminal) -> None:
    debugged.expect("(Pdb) ")
    debugged.say("q")
    debugged.expect("Quitting debugger")
    assert debugged.end() == 2
