"""State directories: what is durable in a world, kept as it was after set-up and put back for each world."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path

from . import originals


class Snapshots:
    """Copies of directories and files, each taken once, and put back at the same absolute path.

    The copies are made by the guard or a world, never by the pytest process: to open and close a file
    drops the POSIX locks that the same process holds on it.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._index = directory / "index"
        self._kept: dict[str, tuple[Path, Path]] = {}
        """what is known of the index: the copy and the original"""

    def take(self, path: Path) -> None:
        """Keep what is at `path` (possibly nothing); a second call for the same path does nothing."""
        digest = _digest(path)
        entry = self._index / digest
        if entry.exists():
            return
        self._index.mkdir(parents=True, exist_ok=True)
        copy = self._directory / digest
        if path.is_symlink():
            copy.symlink_to(os.readlink(path))
        elif path.is_dir():
            shutil.copytree(path, copy, symlinks=True, copy_function=_copy)
        elif path.exists():
            _copy(os.fspath(path), os.fspath(copy))
        entry.write_bytes(os.fsencode(path))

    def restore(self) -> None:
        """Make everything kept as it was."""
        for name in originals.listdir(self._index) if self._index.is_dir() else ():
            if name not in self._kept:
                original = (self._index / name).read_bytes()
                self._kept[name] = self._directory / name, Path(os.fsdecode(original))
            put_back(*self._kept[name])

    def size(self, path: Path) -> int | None:
        """How many bytes the file at `path` had when its directory was kept; None if there was none."""
        for kept in (path, *path.parents):
            digest = _digest(kept)
            if (self._index / digest).exists():
                return size_of(self._directory / digest / path.relative_to(kept))
        return None


def size_of(path: Path) -> int | None:
    """Of a regular file, in bytes; None if there is none. Opens nothing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def put_back(copy: Path, target: Path) -> None:
    """Make `target` as `copy` is. A directory keeps its inode: shells and tests stand in it."""
    if _is_real_directory(copy) and _is_real_directory(target):
        for child in os.scandir(target):
            if child.is_dir(follow_symlinks=False):
                shutil.rmtree(child.path)
            else:
                os.unlink(child.path)
        shutil.copytree(copy, target, symlinks=True, dirs_exist_ok=True, copy_function=_copy)
        return
    if target.exists() or target.is_symlink():
        _remove(target)
    if copy.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.readlink(copy))
    elif copy.is_dir():
        shutil.copytree(copy, target, symlinks=True, copy_function=_copy)
    elif copy.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(os.fspath(copy), os.fspath(target))


def _is_real_directory(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _copy(source: str, target: str) -> None:
    """A socket, pipe or device has no content that a copy could keep: a second name keeps it as it is."""
    if stat.S_ISREG(originals.stat(source).st_mode):
        shutil.copy2(source, target)
        return
    with contextlib.suppress(OSError):  # the copies may be on another file system
        os.link(source, target)
