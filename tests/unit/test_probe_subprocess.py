from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probing import Ended, Lives, crash_at, error_at, lost_ack_at

from pytest_crashwindow.probes.subprocess import Subprocess

PAIR = ["subprocess.Popen:enter", "subprocess.Popen:exit"]
Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    lives = Lives(tmp_path, Subprocess)
    return lambda body, *armed, **how: lives.run(lambda tracker: body(), *armed, **how)


@pytest.fixture
def sign(tmp_path: Path) -> Path:
    """A pipe with a name, by which a child shows that it has run."""
    os.mkfifo(tmp_path / "sign")
    return tmp_path / "sign"


@pytest.mark.parametrize(
    "start",
    [
        lambda: subprocess.run(["echo", "a b"], capture_output=True, check=True).stdout,
        lambda: subprocess.check_output(["echo", "a b"]),
        lambda: subprocess.Popen(args=["echo", "a b"], stdout=subprocess.PIPE).communicate()[0],
    ],
)
def test_one_pair_with_the_command(run: Run, start: Callable[[], bytes]) -> None:
    ended = run(start)
    assert ended.value == b"a b\n"
    assert ended.told == [(point, repr("echo 'a b'")) for point in PAIR]
    assert ended.unraisable == []


@pytest.mark.parametrize(
    ("command", "text"), [("exit 0", "exit 0"), (b"exit 0", "exit 0"), (Path("/bin/true"), "/bin/true")]
)
def test_commands_of_other_types(run: Run, command: Any, text: str) -> None:
    ended = run(lambda: subprocess.run(command, shell=isinstance(command, (str, bytes))).returncode)
    assert (ended.value, ended.hits[0].arguments) == (0, repr(text)), ended.report


def test_asyncio(run: Run) -> None:
    async def main() -> bytes:
        process = await asyncio.create_subprocess_exec("echo", "a", stdout=subprocess.PIPE)
        return (await process.communicate())[0]

    ended = run(lambda: asyncio.run(main()))
    assert (ended.value, ended.points) == (b"a\n", PAIR), ended.report


def test_a_command_that_does_not_exist_has_no_exit(run: Run) -> None:
    ended = run(lambda: subprocess.run(["/nowhere"]))
    assert (ended.raised, ended.points) == ("FileNotFoundError", PAIR[:1])


def test_error_starts_nothing(run: Run, tmp_path: Path) -> None:
    ended = run(lambda: subprocess.run(["touch", tmp_path / "started"]), error_at(PAIR[0]))
    assert ended.raised == "Boom"
    assert not (tmp_path / "started").exists()
    assert ended.unraisable == []


@pytest.mark.parametrize("piped", [{}, {"stdin": -1, "stdout": -1, "stderr": -1, "text": True}])
def test_after_a_lost_ack_the_child_runs_on(run: Run, sign: Path, piped: dict[str, Any]) -> None:
    def body() -> bool:
        with pytest.raises(TimeoutError):
            subprocess.Popen([sys.executable, "-c", f"open({str(sign)!r}, 'w').write('ran')"], **piped)
        with open(sign) as file:
            return file.read() == "ran"

    ended = run(body, lost_ack_at(PAIR[1], error=TimeoutError))
    assert ended.value is True, ended.report
    assert ended.unraisable == []


def test_after_a_lost_ack_the_child_is_reaped_by_and_by(run: Run) -> None:
    def body() -> int:
        with pytest.raises(TimeoutError):
            subprocess.Popen(["true"])
        left: list[Any] = subprocess._active  # type: ignore[attr-defined]
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        subprocess.run(["true"])
        return len(left)

    ended = run(body, lost_ack_at(PAIR[1], error=TimeoutError))
    assert ended.value == 0, ended.report
    assert ended.unraisable == []


def test_crash(run: Run, sign: Path) -> None:
    command = [sys.executable, "-c", f"open({str(sign)!r}, 'w').write('ran')"]
    assert run(lambda: subprocess.run(command), crash_at(PAIR[0])).killed
    reader = os.open(sign, os.O_RDONLY | os.O_NONBLOCK)
    assert os.read(reader, 9) == b""
    os.close(reader)
    assert run(lambda: subprocess.run(command), crash_at(PAIR[1])).killed
    assert sign.read_text() == "ran"


def test_outside_lives(run: Run) -> None:
    assert run(lambda: subprocess.run(["true"]).returncode, begun=False).points == []
