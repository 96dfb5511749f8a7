from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from os import fsync as early_fsync
from os import replace as early_replace
from pathlib import Path
from typing import Any

import pytest
from probing import Ended, Lives, crash_at, error_at, lost_ack_at

from pytest_crashwindow.points import Armed
from pytest_crashwindow.probes.files import Files
from pytest_crashwindow.tracker import Tracker

Run = Callable[..., Ended]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The one state directory."""
    path = tmp_path / "state"
    path.mkdir()
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    path = tmp_path / "outside"
    path.mkdir()
    return path


@pytest.fixture
def run(tmp_path: Path, state: Path) -> Run:
    lives = Lives(tmp_path, Files, state=[state])

    def run(body: Callable[[], Any], *armed: Armed, **how: Any) -> Ended:
        return lives.run(lambda tracker: body(), *armed, **how)

    return run


def calls(ended: Ended) -> list[str]:
    """The points in short: `open file.write` for both ends of both; an odd end is spelled out."""
    assert ended.raised is None, ended.report
    short: list[str] = []
    for point in ended.points:
        call, _, end = point.rpartition(":")
        if end == "exit" and short and short[-1] == f"{call}:enter":
            short[-1] = call
        else:
            short.append(point)
    return short


class TestSequences:
    def test_json_dump_in_place(self, run: Run, state: Path) -> None:
        def body() -> None:
            with open(state / "config.json", "w") as file:
                json.dump({"a": [1, 2]}, file)

        assert calls(run(body)) == ["open", "file.write"]

    def test_a_crash_at_the_exit_of_open_leaves_an_empty_file(self, run: Run, state: Path) -> None:
        (state / "config.json").write_text("{}")
        ended = run(lambda: (state / "config.json").write_text('{"a": 1}'), crash_at("open:exit"))
        assert ended.killed
        assert (state / "config.json").read_text() == ""

    def test_temporary_file_synced_and_renamed_by_aliases_from_before(self, run: Run, state: Path) -> None:
        def body(replace: Any = os.replace) -> None:
            for finish in (early_replace, replace):
                with open(state / "a.tmp", "w") as file:
                    file.write("new")
                    file.flush()
                    early_fsync(file.fileno())
                finish(state / "a.tmp", state / "a")

        assert calls(run(body)) == ["open", "file.write", "os.fsync", "os.replace"] * 2

    def test_both_ends_with_their_paths(self, run: Run, state: Path) -> None:
        def body() -> None:
            (state / "a").write_text("x")
            (state / "a").rename(state / "b")

        a, b = repr(f"{state}/a"), repr(f"{state}/b")
        assert run(body).told == [
            ("open:enter", a),
            ("open:exit", a),
            ("file.write:enter", a),
            ("file.write:exit", a),
            ("os.rename:enter", f"{a}, {b}"),
            ("os.rename:exit", f"{a}, {b}"),
        ]

    def test_pathlib(self, run: Run, state: Path) -> None:
        def body() -> None:
            (state / "d").mkdir()
            (state / "d" / "a").write_text("x")
            (state / "d" / "b").write_bytes(b"x")
            (state / "d" / "c").touch()
            (state / "d" / "a").replace(state / "d" / "c")
            (state / "d" / "l").symlink_to(state / "d" / "c")
            (state / "d" / "h").hardlink_to(state / "d" / "c")
            for name in "lhbc":
                (state / "d" / name).unlink()
            (state / "d").rmdir()

        assert calls(run(body)) == [
            *("os.mkdir", "open", "file.write", "open", "file.write", "open", "os.replace"),
            *("os.symlink", "os.link", "os.remove", "os.remove", "os.remove", "os.remove", "os.rmdir"),
        ]

    def test_functions_of_os(self, run: Run, state: Path) -> None:
        def body() -> None:
            fd = os.open(state / "a", os.O_RDWR | os.O_CREAT)
            os.write(fd, b"x")
            os.pwrite(fd, b"x", 5)
            os.fdatasync(fd)
            os.ftruncate(fd, 3)
            os.close(fd)
            os.truncate(state / "a", 2)
            os.makedirs(state / "b" / "c")
            os.link(state / "a", state / "l")
            os.rename(state / "a", state / "b" / "a")
            os.unlink(state / "b" / "a")
            os.removedirs(state / "b" / "c")

        with contextlib.suppress(OSError):  # `removedirs` removes upwards until it can't
            (state / "kept").touch()
        assert calls(run(body)) == [
            *("open", "file.write", "file.write", "os.fsync", "os.truncate", "os.truncate"),
            *("os.mkdir", "os.mkdir", "os.link", "os.rename", "os.remove"),
            *("os.rmdir", "os.rmdir", "os.rmdir:enter"),
        ]

    def test_shutil(self, run: Run, state: Path, outside: Path) -> None:
        (outside / "a").write_text("x")

        def body() -> None:
            shutil.copyfile(outside / "a", state / "a")
            shutil.move(state / "a", state / "b")
            (state / "d").mkdir()
            shutil.move(state / "b", state / "d")
            shutil.rmtree(state / "d")

        points = calls(run(body))
        assert points[:2] == ["open", "file.write"]
        assert set(points[:-5]) == {"open", "file.write"}
        assert points[-5:] == ["os.rename", "os.mkdir", "os.rename", "os.remove", "os.rmdir"]

    def test_tempfile(self, run: Run, state: Path) -> None:
        def body() -> None:
            with tempfile.NamedTemporaryFile(dir=state) as file:
                file.write(b"x")
            fd, name = tempfile.mkstemp(dir=state)
            with open(fd, "w") as text:
                text.write("x")
            os.remove(name)
            with tempfile.TemporaryDirectory(dir=state):
                pass

        assert calls(run(body)) == [
            *("open", "file.write", "os.remove", "open", "file.write", "os.remove", "os.mkdir", "os.rmdir")
        ]

    def test_zipfile(self, run: Run, state: Path) -> None:
        def body() -> None:
            with zipfile.ZipFile(state / "a.zip", "w") as archive:
                archive.writestr("a", "x")

        points = calls(run(body))
        assert points[0] == "open"
        assert set(points[1:]) == {"file.write"}

    def test_each_raw_write_is_a_hit(self, run: Run, state: Path) -> None:
        def body() -> None:
            with open(state / "a", "wb") as file:
                for _ in range(3):
                    file.write(bytes(io.DEFAULT_BUFFER_SIZE + 1))

        assert calls(run(body)) == ["open", "file.write", "file.write", "file.write"]

    def test_what_the_garbage_collector_writes(self, run: Run, state: Path) -> None:
        def body() -> None:
            file = open(state / "a", "w")  # noqa: SIM115
            file.write("x")
            del file
            gc.collect()

        with_warnings = run(body)
        assert calls(with_warnings) == ["open", "file.write"]
        assert (state / "a").read_text() == "x"

    def test_truncating_an_open_file(self, run: Run, state: Path) -> None:
        (state / "a").write_text("long")

        def body() -> None:
            with open(state / "a", "r+") as file:
                file.truncate(1)

        assert calls(run(body)) == ["open", "os.truncate"]

    def test_a_directory_synced(self, run: Run, state: Path) -> None:
        def body() -> None:
            fd = os.open(state, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(fd)
            os.close(fd)

        ended = run(body)
        assert calls(ended) == ["os.fsync"]
        assert ended.hits[0].arguments == repr(str(state))

    def test_fsync_of_a_file_object(self, run: Run, state: Path) -> None:
        def body() -> None:
            with open(state / "a", "w") as file:
                os.fsync(file)

        assert calls(run(body)) == ["open", "os.fsync"]

    def test_a_handler_of_logging_inside(self, run: Run, state: Path) -> None:
        def body() -> None:
            handler = logging.FileHandler(state / "log")
            handler.emit(logging.makeLogRecord({"msg": "hello"}))
            handler.close()

        assert calls(run(body)) == ["open", "file.write"]


class TestPaths:
    @pytest.fixture
    def seen(self, run: Run) -> Callable[[Callable[[], Any]], list[str]]:
        """The arguments of the hits of `:enter`."""

        def seen(body: Callable[[], Any]) -> list[str]:
            ended = run(body)
            assert ended.raised is None, ended.report
            return [hit.arguments for hit in ended.hits if hit.point.endswith(":enter")]

        return seen

    def test_relative_to_the_working_directory(self, seen: Any, state: Path) -> None:
        def body() -> None:
            os.chdir(state)
            with open("a", "w") as file:
                file.write("x")
            os.mkdir("d")
            os.rename("a", "d/../b")

        a, b, d = (repr(f"{state}/{name}") for name in "abd")
        assert seen(body) == [a, a, d, f"{a}, {b}"]

    def test_a_file_keeps_its_path_when_the_working_directory_changes(self, seen: Any, state: Path) -> None:
        def body() -> None:
            os.chdir(state)
            with open("a", "w") as file:
                os.chdir("/")
                file.write("x")

        assert seen(body) == [repr(f"{state}/a")] * 2

    def test_relative_to_a_descriptor(self, seen: Any, state: Path) -> None:
        def body() -> None:
            directory = os.open(state, os.O_RDONLY)
            os.close(os.open("a", os.O_WRONLY | os.O_CREAT, dir_fd=directory))
            os.rename("a", "b", src_dir_fd=directory, dst_dir_fd=directory)
            os.mkdir("d", dir_fd=directory)
            os.unlink("b", dir_fd=directory)
            os.close(directory)

        a, b, d = (repr(f"{state}/{name}") for name in "abd")
        assert seen(body) == [a, f"{a}, {b}", d, b]

    def test_bytes_and_paths(self, seen: Any, state: Path) -> None:
        def body() -> None:
            os.mkdir(os.fsencode(state / "d"))
            os.rmdir(state / "d")

        assert seen(body) == [repr(f"{state}/d")] * 2

    def test_through_a_link_from_outside(self, seen: Any, state: Path, outside: Path) -> None:
        (state / "d").mkdir()
        (outside / "link").symlink_to(state / "d")
        (state / "a").touch()
        (outside / "a").symlink_to(state / "a")

        def body() -> None:
            (outside / "link" / "b").write_text("x")
            (outside / "a").write_text("x")
            (outside / "a").unlink()  # the link itself, which lies outside

        assert seen(body) == [repr(f"{state}/d/b")] * 2 + [repr(f"{state}/a")] * 2

    def test_moved_in_and_out(self, seen: Any, state: Path, outside: Path) -> None:
        def body() -> None:
            (outside / "a").write_text("x")
            (outside / "a").rename(state / "a")
            (state / "a").rename(outside / "a")
            (outside / "a").rename(outside / "b")

        inner, outer = repr(f"{state}/a"), repr(f"{outside}/a")
        assert seen(body) == [f"{outer}, {inner}", f"{inner}, {outer}"]

    def test_a_link_made_inside(self, seen: Any, state: Path, outside: Path) -> None:
        def body() -> None:
            os.symlink("elsewhere", state / "link")
            os.symlink(state / "link", outside / "link")

        assert seen(body) == [f"'elsewhere', {str(state / 'link')!r}"]

    def test_a_descriptor_from_elsewhere(self, seen: Any, state: Path) -> None:
        (state / "a").touch()
        inherited = os.open(state / "a", os.O_WRONLY)
        try:
            assert seen(lambda: os.write(inherited, b"x")) == [repr(f"{state}/a")]
        finally:
            os.close(inherited)

    def test_a_descriptor_used_anew(self, seen: Any, state: Path, outside: Path) -> None:
        def body() -> None:
            for path in (state / "a", outside / "a", state / "b"):
                fd = os.open(path, os.O_WRONLY | os.O_CREAT)
                os.write(fd, b"x")
                os.close(fd)

        assert seen(body) == [repr(f"{state}/{name}") for name in "aabb"]

    def test_a_state_directory_that_is_a_file(self, tmp_path: Path) -> None:
        lives = Lives(tmp_path, Files, state=[tmp_path / "only"])

        def body(tracker: Tracker) -> None:
            (tmp_path / "only").write_text("x")
            (tmp_path / "only.too").write_text("x")

        assert calls(lives.run(body)) == ["open", "file.write"]


class TestNoPoint:
    def test_reading(self, run: Run, state: Path) -> None:
        (state / "a").write_text("x")

        def body() -> None:
            (state / "a").read_text()
            os.close(os.open(state / "a", os.O_RDONLY))
            os.listdir(state)
            shutil.copyfile(state / "a", "/dev/null")

        assert calls(run(body)) == []

    def test_outside(self, run: Run, outside: Path, tmp_path: Path) -> None:
        def body() -> None:
            for directory in (outside, tmp_path / "state-of-another"):
                directory.mkdir(exist_ok=True)
                (directory / "a").write_text("x")
                (directory / "a").rename(directory / "b")
                (directory / "b").unlink()

        assert calls(run(body)) == []

    def test_the_terminal(self, run: Run, state: Path) -> None:
        def body() -> None:
            os.dup2(os.open(state / "out", os.O_RDWR | os.O_CREAT), 1)
            sys.__stdout__.write("printed\n")  # type: ignore[union-attr]
            sys.__stdout__.flush()  # type: ignore[union-attr]
            os.write(1, b"written\n")

        assert calls(run(body)) == ["open"]
        assert (state / "out").read_text() == "printed\nwritten\n"

    def test_pipes_and_sockets(self, run: Run, state: Path) -> None:
        os.mkfifo(state / "fifo")

        def body() -> None:
            fd = os.open(state / "fifo", os.O_RDONLY | os.O_NONBLOCK)
            with open(fd, "rb"), open(os.open(state / "fifo", os.O_WRONLY), "wb") as pipe:
                pipe.write(b"x")

        assert calls(run(body)) == ["open"]

    def test_compiled_python(self, run: Run, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (state / "some_module.py").write_text("x = 1")
        monkeypatch.setattr(sys, "dont_write_bytecode", False)

        def body() -> bool:
            sys.path.insert(0, str(state))
            __import__("some_module")
            return (state / "__pycache__").exists()

        ended = run(body)
        assert calls(ended) == []
        assert ended.value is True

    def test_outside_lives(self, run: Run, state: Path) -> None:
        assert calls(run(lambda: (state / "a").write_text("x"), begun=False)) == []

    def test_calls_with_wrong_arguments(self, run: Run, state: Path) -> None:
        def body() -> list[str]:
            told = []
            for call in (
                lambda: os.rename(),  # type: ignore[call-arg]
                lambda: os.mkdir(state / "a", wrong=1),  # type: ignore[call-arg]
                lambda: os.write("a", b""),  # type: ignore[arg-type]
                lambda: os.open(state / "a"),  # type: ignore[call-arg]
                lambda: open(None, "w"),  # type: ignore[call-overload]  # noqa: SIM115
                lambda: open(state / "\0", "w"),  # noqa: SIM115
                lambda: os.fsync(99),
            ):
                try:
                    call()
                except Exception as error:
                    told.append(f"{type(error).__name__}: {error}")
            return told

        assert run(body).value == run(body, begun=False).value
        assert len(run(body).value) == 7


class TestFaults:
    def test_error_means_that_nothing_happens(self, run: Run, state: Path) -> None:
        (state / "a").write_text("old")
        for point, body in {
            "open:enter": lambda: (state / "a").write_text("new"),
            "file.write:enter": lambda: os.write(os.open(state / "a", os.O_WRONLY), b"new"),
            "os.replace:enter": lambda: os.replace(state / "a", state / "b"),
            "os.remove:enter": lambda: os.remove(state / "a"),
            "os.mkdir:enter": lambda: os.mkdir(state / "d"),
        }.items():
            ended = run(body, error_at(point))
            assert ended.raised == "Boom", ended.report
            assert ended.points[-1] == point
        assert [path.name for path in state.iterdir()] == ["a"]
        assert (state / "a").read_text() == "old"

    def test_lost_ack_comes_after_the_effect(self, run: Run, state: Path) -> None:
        (state / "a").write_text("old")
        ended = run(lambda: os.replace(state / "a", state / "b"), lost_ack_at("os.replace:exit"))
        assert ended.raised == "Boom"
        assert [path.name for path in state.iterdir()] == ["b"]

    @pytest.mark.parametrize("point", ["open:enter", "open:exit"])
    @pytest.mark.parametrize("how", ["open", "os.open"])
    def test_no_descriptor_is_left_open(self, run: Run, state: Path, point: str, how: str) -> None:
        def body() -> bool:
            before = len(os.listdir("/proc/self/fd"))
            try:
                if how == "open":
                    open(state / "a", "w").close()
                else:
                    os.open(state / "a", os.O_WRONLY | os.O_CREAT)
            except OSError:
                return len(os.listdir("/proc/self/fd")) == before
            return False

        arm = error_at if point.endswith("enter") else lost_ack_at
        assert run(body, arm(point, error=OSError(28, "No space left on device"))).value is True

    def test_a_buffer_is_written_again_after_a_lost_ack(self, run: Run, state: Path) -> None:
        def body() -> None:
            with open(state / "a", "wb") as file:
                file.write(b"x")
                with pytest.raises(TimeoutError):
                    file.flush()

        ended = run(body, lost_ack_at("file.write:exit", error=TimeoutError))
        assert calls(ended) == ["open", "file.write", "file.write"]
        assert (state / "a").read_bytes() == b"xx"

    def test_crash_between_writing_and_renaming(self, run: Run, state: Path) -> None:
        def body() -> None:
            (state / "a.tmp").write_text("new")
            os.replace(state / "a.tmp", state / "a")

        assert run(body, crash_at("os.replace:enter")).killed
        assert [path.name for path in state.iterdir()] == ["a.tmp"]
        assert run(body, crash_at("os.replace:exit")).killed
        assert [path.name for path in state.iterdir()] == ["a"]


class TestTransparency:
    def test_builtins_in_classes_do_not_become_methods(self, run: Run, state: Path) -> None:
        class Store:
            move = os.rename

            def store(self) -> None:
                (state / "a").write_text("x")
                move: Any = self.move  # type: ignore[misc]
                move(state / "a", state / "b")

        assert calls(run(lambda: Store().store())) == ["open", "file.write", "os.rename"]

    def test_tables_of_os_know_the_replacements(self, run: Run) -> None:
        def body() -> list[bool]:
            return [
                os.unlink in os.supports_dir_fd,
                {os.open, os.stat, os.unlink, os.rmdir} <= os.supports_dir_fd,
                os.truncate in os.supports_fd,
                __import__("posix").rename is os.rename,
            ]

        assert run(body).value == [True] * 4
