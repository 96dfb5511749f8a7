"""Snapshots of durable state."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pytest_crashwindow.state import Snapshots


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(tmp_path / "snapshots")


def test_a_directory_is_as_it_was_and_keeps_its_inode(snapshots: Snapshots, tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "sub").mkdir(parents=True)
    (state / "kept").write_text("old")
    (state / "link").symlink_to("kept")
    snapshots.take(state)
    inode = state.stat().st_ino
    (state / "kept").write_text("new")
    (state / "made").touch()
    (state / "sub").rmdir()
    (state / "link").unlink()
    snapshots.restore()
    assert state.stat().st_ino == inode
    assert sorted(path.name for path in state.iterdir()) == ["kept", "link", "sub"]
    assert (state / "kept").read_text() == "old"
    assert os.readlink(state / "link") == "kept"


def test_a_file_is_put_back_and_one_that_was_not_there_is_removed(snapshots: Snapshots, tmp_path: Path) -> None:
    kept, made = tmp_path / "kept", tmp_path / "made"
    kept.write_text("old")
    snapshots.take(kept)
    snapshots.take(made)
    kept.unlink()
    made.write_text("new")
    snapshots.restore()
    assert kept.read_text() == "old"
    assert not made.exists()


def test_a_link_stays_a_link(snapshots: Snapshots, tmp_path: Path) -> None:
    link = tmp_path / "current"
    link.symlink_to("release-1")
    snapshots.take(link)
    link.unlink()
    link.symlink_to("release-2")
    snapshots.restore()
    assert os.readlink(link) == "release-1"


def test_only_the_first_look_counts(snapshots: Snapshots, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("first")
    snapshots.take(path)
    path.write_text("second")
    snapshots.take(path)
    snapshots.restore()
    assert path.read_text() == "first"


def test_pipes_and_sockets_stay_and_new_ones_go(
    snapshots: Snapshots, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.chdir(state)  # the name of a socket has to be short
    os.mkfifo(state / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("served")
        server.listen()
        snapshots.take(state)  # and doesn't wait for a writer
        (state / "served").unlink()
        os.mkfifo(state / "made")
        snapshots.restore()
        assert sorted(path.name for path in state.iterdir()) == ["pipe", "served"]
        assert (state / "pipe").is_fifo()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect("served")


def test_nothing_taken_nothing_restored(snapshots: Snapshots) -> None:
    snapshots.restore()


def test_the_size_that_a_file_had(snapshots: Snapshots, tmp_path: Path) -> None:
    (tmp_path / "state" / "sub").mkdir(parents=True)
    deep, alone = tmp_path / "state" / "sub" / "deep", tmp_path / "alone"
    deep.write_text("four")
    alone.write_text("old")
    snapshots.take(tmp_path / "state")
    snapshots.take(alone)
    deep.write_text("")
    alone.unlink()
    assert (snapshots.size(deep), snapshots.size(alone)) == (4, 3)
    assert snapshots.size(deep.parent) is None
    assert snapshots.size(deep.with_name("new")) is None
    assert snapshots.size(tmp_path / "elsewhere") is None
