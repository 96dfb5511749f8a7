"""However a run ends: no process and no directory of a life is left.

Every process of such a run carries a token in its environment or its arguments, by which `/proc` finds it.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from .conftest import WITHOUT_OTHERS
from .waiting import wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

FAMILY = '''
import os, signal, subprocess, sys, threading, time, pytest

HERE = os.path.dirname(__file__)

def ready(name):
    open(os.path.join(HERE, f"ready-{name}"), "w").close()

def forever(name):
    ready(name)
    while True:
        time.sleep(1000)

def family():
    """A life with a child, a process of another program, a daemon, and a stopped daemon."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        forever("child")
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    for name, stops in (("daemon", False), ("stopped", True)):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                if stops:
                    ready(name)
                    os.kill(os.getpid(), signal.SIGSTOP)
                forever(name)
            os._exit(0)
        os.wait()
    forever("life")

def start_all(crashwindow):
    crashwindow.start(family)
    crashwindow.run(sys.audit, "shop.a", pause_at="shop.a")
    while len([n for n in os.listdir(HERE) if n.startswith("ready-")]) < 4:
        time.sleep(0.005)
    ready("all")
'''


class Case:
    """One run of pytest on a file that starts a family of processes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.token = f"crashwindow-test-{secrets.token_hex(8)}"
        self.base = directory / "base"

    def start(self, source: str, *args: str) -> subprocess.Popen[str]:
        (self.directory / "test_it.py").write_text(FAMILY + dedent(source))
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={self.base}", *WITHOUT_OTHERS]
        return subprocess.Popen(
            [*command, *args],
            cwd=self.directory,
            env={**os.environ, "PYTEST_ADDOPTS": "", "TOKEN": self.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A shell starts what it runs in the background with Ctrl-C ignored; so may ours have been.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def run(self, source: str, *args: str) -> str:
        return self.start(source, *args).communicate(timeout=60)[0]

    def is_up(self) -> bool:
        return (self.directory / "ready-all").exists()

    def processes(self) -> list[int]:
        """Every process that has the token and isn't a zombie."""
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and self._is_ours(entry)]

    def _is_ours(self, entry: Path) -> bool:
        try:
            return self.token.encode() in (entry / "environ").read_bytes()
        except (OSError, PermissionError):
            return False

    def directories(self) -> list[str]:
        """Directories of the plugin below the base for temporary files."""
        return [str(path) for path in self.base.rglob("crashwindow-*")] if self.base.exists() else []

    def assert_nothing_is_left(self, by_itself: bool = True) -> None:
        """`by_itself`: pytest had the time to see to it; else the guard does after pytest's end."""
        if not by_itself:
            wait_until(lambda: not self.processes(), f"processes to go: {self.processes()}")
            wait_until(lambda: not self.directories(), f"directories to go: {self.directories()}")
        assert self.processes() == []
        assert self.directories() == []


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    case = Case(tmp_path)
    yield case
    for pid in case.processes():  # of a test that failed
        os.kill(pid, signal.SIGKILL)


WAYS_TO_END = {
    "pass": ("pass", (), "1 passed"),
    "failure": ("assert False", (), "1 failed"),
    "stop_at_first_failure": ("assert False", ("-x",), "stopping after 1 failures"),
    "skip": ("pytest.skip('x')", (), "1 skipped"),
    "exit": ("pytest.exit('enough')", (), "enough"),
    "keyboard_interrupt": ("raise KeyboardInterrupt", (), "1 failed"),
    "body_killed": ("os.kill(os.getpid(), signal.SIGKILL)", (), "1 failed"),
    "body_exits": ("os._exit(0)", (), "1 failed"),
    "timeout_signal": ("time.sleep(1000)", ("--timeout=3", "--timeout-method=signal"), "1 failed"),
    "timeout_thread": ("time.sleep(1000)", ("--timeout=3", "--timeout-method=thread"), "1 failed"),
}


@pytest.mark.parametrize("way", WAYS_TO_END)
def test_a_test_that_ends_in_any_way(case: Case, way: str) -> None:
    body, args, said = WAYS_TO_END[way]
    output = case.run(
        f"""
        def test_it(crashwindow):
            start_all(crashwindow)
            {body}
        """,
        *args,
    )
    assert case.is_up(), output
    assert said in output
    case.assert_nothing_is_left()


FIXTURES = {
    "passes": ("yield", (), "1 passed"),
    "fails": ("raise ValueError", (), "1 error"),
    "fails_at_tear_down": ("yield\n            raise ValueError", (), "1 passed, 1 error"),
    "skips": ("pytest.skip('x')", (), "1 skipped"),
    "hangs_signal": ("time.sleep(1000)", ("--timeout=3", "--timeout-method=signal"), "1 error"),
}


@pytest.mark.parametrize("way", FIXTURES)
def test_a_fixture_that_started_a_life(case: Case, way: str) -> None:
    code, args, said = FIXTURES[way]
    output = case.run(
        f"""
        @pytest.fixture
        def shop(crashwindow):
            start_all(crashwindow)
            {code}

        def test_it(shop):
            pass
        """,
        *args,
    )
    assert case.is_up(), output
    assert said in output
    case.assert_nothing_is_left()


def test_the_thread_method_of_pytest_timeout_in_a_fixture_ends_pytest_itself(case: Case) -> None:
    output = case.run(
        """
        @pytest.fixture
        def shop(crashwindow):
            start_all(crashwindow)
            time.sleep(1000)

        def test_it(shop):
            pass
        """,
        "--timeout=3",
        "--timeout-method=thread",
    )
    assert "Timeout" in output
    case.assert_nothing_is_left(by_itself=False)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda n: n.name)
@pytest.mark.parametrize("where", ["body", "fixture"])
def test_pytest_is_ended_by_a_signal(case: Case, number: signal.Signals, where: str) -> None:
    pytest_process = case.start(
        """
        @pytest.fixture
        def fixture(crashwindow):
            if os.environ["WHERE"] == "fixture":
                start_all(crashwindow)
                time.sleep(1000)

        def test_it(crashwindow, fixture):
            start_all(crashwindow)
            time.sleep(1000)
        """.replace('os.environ["WHERE"]', repr(where))
    )
    wait_until(lambda: case.is_up() or pytest_process.poll() is not None, "the family to be up")
    assert len(case.processes()) >= 7
    pytest_process.send_signal(number)
    output = pytest_process.communicate(timeout=60)[0]
    if number == signal.SIGINT:
        assert "KeyboardInterrupt" in output
        # In a set-up with tmp_path pytest itself stumbles over its own interrupt and ends with 1.
        assert pytest_process.returncode in ((2,) if where == "body" else (1, 2)), output
        case.assert_nothing_is_left()
    else:
        assert pytest_process.returncode == -number
        case.assert_nothing_is_left(by_itself=False)


def test_nothing_is_left_between_two_tests(case: Case) -> None:
    output = case.run(
        """
        def test_first(crashwindow):
            start_all(crashwindow)

        def test_second():
            token = os.environ["TOKEN"].encode()
            found = []
            for entry in os.listdir("/proc"):
                try:
                    if entry.isdigit() and token in open(f"/proc/{entry}/environ", "rb").read():
                        found.append(int(entry))
                except OSError:
                    pass
            assert found == [os.getpid()]
        """
    )
    assert "2 passed" in output


def test_a_life_that_forks_all_the_time_is_ended(case: Case) -> None:
    output = case.run(
        """
        def bomb():
            for number in range(20):
                if os.fork() == 0:
                    os.setsid()
                    while True:
                        if os.fork():
                            os._exit(0)  # always a new process, always an orphan
                        time.sleep(0.001)
            ready("bomb")
            time.sleep(1000)

        def test_it(crashwindow):
            crashwindow.start(bomb)
            while not os.path.exists(os.path.join(HERE, "ready-bomb")):
                time.sleep(0.005)
        """
    )
    assert "1 passed" in output
    case.assert_nothing_is_left()
