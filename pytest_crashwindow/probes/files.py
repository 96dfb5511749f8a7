"""`files`: what changes files and directories below the state directories, one point for each system call.

CPython raises no audit event for writing and syncing, and none after any call, so the functions of `os`
are replaced, and three methods of `io.FileIO`, through which all of Python's files go: also what `flush`,
`close`, a full buffer or the garbage collector writes.
"""

from __future__ import annotations

import fcntl
import functools
import io
import os
import stat
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..surgery import set_in_type
from .base import Probe

if TYPE_CHECKING:
    from pathlib import Path

    from ..installing import Site
    from ..tracker import Tracker

_OPENS_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_LAST_STANDARD_FD = 2

# The originals: this probe replaces some of them, and code under test may replace all.
_fstat, _readlink, _getcwd, _close = os.fstat, os.readlink, os.getcwd, os.close
_realpath, _islink = os.path.realpath, os.path.islink

_Paths = Callable[..., "Sequence[str] | None"]
"""takes the arguments of a call, gives the paths that make it a hit"""


class Files(Probe):
    """Python's own files. The paths of a hit are absolute, also where the program gives relative ones.

    `os.remove` stands for `unlink` too, `os.fsync` for `fdatasync`, `os.truncate` for `ftruncate`, and
    `file.write` for whatever writes: `os.write`, `os.sendfile`, `os.copy_file_range`. Not seen: `mmap`, and
    C code that has its own way to files, like SQLite. Left out: compiled Python files, and what is neither
    a regular file nor (to be synced) a directory.
    """

    name = "files"
    calls = (
        "open",
        "file.write",
        "os.fsync",
        "os.replace",
        "os.rename",
        "os.remove",
        "os.link",
        "os.symlink",
        "os.mkdir",
        "os.rmdir",
        "os.truncate",
    )

    def install(self, site: Site) -> None:
        scope = _Scope(site.tracker)
        pairs = _Pairs(site.tracker, scope)

        def of_file(raw: io.FileIO, *_: Any) -> Sequence[str] | None:
            return scope.of_fd(raw.fileno())

        of_files = {
            "__init__": pairs.of_file_opened(io.FileIO.__init__),
            "write": pairs.of_file_written(io.FileIO.write, of_file),
            "truncate": pairs.around("os.truncate", io.FileIO.truncate, of_file),
        }
        site.on_uninstall(set_in_type(io.FileIO, of_files))
        site.replace(os.open, pairs.of_descriptor_opened(os.open))
        for names, call, paths in _os_calls(scope):
            for name in names:
                if hasattr(os, name):
                    original = getattr(os, name)
                    site.replace(original, pairs.around(call, original, paths))


def _os_calls(scope: _Scope) -> list[tuple[tuple[str, ...], str, _Paths]]:
    """Functions of `os`, their point, and the paths that it is about; parameters are as theirs."""

    def by_name(path: Any, *_: Any, dir_fd: int | None = None) -> Sequence[str] | None:
        return scope.of_names((path, dir_fd))

    def by_name_or_fd(path: Any, *_: Any, length: Any = None) -> Sequence[str] | None:
        return scope.of_fd(path) if isinstance(path, int) else scope.of_names((path, None))

    def by_names(
        src: Any,
        dst: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,
    ) -> Sequence[str] | None:
        return scope.of_names((src, src_dir_fd), (dst, dst_dir_fd))

    def by_link(
        src: Any, dst: Any, target_is_directory: bool = False, *, dir_fd: int | None = None
    ) -> Sequence[str] | None:
        link = scope.of_names((dst, dir_fd))
        return link and (os.fsdecode(src), *link)

    def by_fd(fd: int, *_: Any, **__: Any) -> Sequence[str] | None:
        return scope.of_fd(fd)

    def by_second_fd(src: int, dst: int, *_: Any, **__: Any) -> Sequence[str] | None:
        return scope.of_fd(dst)

    def by_fd_of_anything(fd: Any) -> Sequence[str] | None:
        return scope.of_fd(fd if isinstance(fd, int) else fd.fileno(), directories=True)

    return [
        (("write", "pwrite", "writev", "pwritev"), "file.write", by_fd),
        (("sendfile",), "file.write", lambda out_fd, *_, **__: scope.of_fd(out_fd)),
        (("copy_file_range",), "file.write", by_second_fd),
        (("fsync", "fdatasync"), "os.fsync", by_fd_of_anything),
        (("replace",), "os.replace", by_names),
        (("rename",), "os.rename", by_names),
        (("link",), "os.link", by_names),
        (("symlink",), "os.symlink", by_link),
        (("remove", "unlink"), "os.remove", by_name),
        (("mkdir",), "os.mkdir", lambda path, mode=0o777, *, dir_fd=None: by_name(path, dir_fd=dir_fd)),
        (("rmdir",), "os.rmdir", by_name),
        (("truncate",), "os.truncate", by_name_or_fd),
        (("ftruncate",), "os.truncate", by_fd),
    ]


class _Pairs:
    """Wrappers that pass `:enter` and `:exit`."""

    def __init__(self, tracker: Tracker, scope: _Scope) -> None:
        self._tracker, self._scope = tracker, scope

    def around(self, call: str, original: Callable[..., Any], paths: _Paths) -> Callable[..., Any]:
        tracker, enter, exit = self._tracker, f"{call}:enter", f"{call}:exit"

        @functools.wraps(original)
        def function(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active:
                return original(*args, **kwargs)
            try:
                found = paths(*args, **kwargs)
            except Exception:  # wrong arguments: the original says so best
                found = None
            if found is None:
                return original(*args, **kwargs)
            tracker.passed(enter, found)
            result = original(*args, **kwargs)
            tracker.passed(exit, found)
            return result

        return function

    def of_file_written(self, original: Callable[..., Any], paths: _Paths) -> Callable[..., Any]:
        """What could not be written stays in the buffer, and is written again when the file is flushed or closed.

        The disk that an `error` stands for would still be full then, so the file goes on to refuse.
        """
        tracker, refused = self._tracker, weakref.WeakKeyDictionary[io.FileIO, BaseException]()

        @functools.wraps(original)
        def write(raw: io.FileIO, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not tracker.active or raw.closed:
                return original(raw, *args, **kwargs)
            if refused and raw in refused:
                raise refused[raw]
            found = paths(raw)
            if found is None:
                return original(raw, *args, **kwargs)
            try:
                tracker.passed("file.write:enter", found)
            except BaseException as error:
                refused[raw] = error
                raise
            result = original(raw, *args, **kwargs)
            tracker.passed("file.write:exit", found)
            return result

        return write

    def of_descriptor_opened(self, original: Callable[..., int]) -> Callable[..., int]:
        tracker, scope = self._tracker, self._scope

        def path_of(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> str | None:
            return scope.of_name(path, dir_fd, follow=True) if flags & _OPENS_FOR_WRITING else None

        @functools.wraps(original)
        def function(*args: Any, **kwargs: Any) -> int:
            __tracebackhide__ = True
            try:
                path = path_of(*args, **kwargs) if tracker.active else None
            except Exception:  # wrong arguments: the original says so best
                path = None
            if path is None:
                return original(*args, **kwargs)
            tracker.passed("open:enter", (path,))
            fd = original(*args, **kwargs)
            try:
                scope.remember(fd, path)
                tracker.passed("open:exit", (path,))
            except BaseException:
                _close(fd)  # the caller never learns of it
                raise
            return fd

        return function

    def of_file_opened(self, original: Callable[..., None]) -> Callable[..., None]:
        tracker, scope = self._tracker, self._scope

        def path_of(file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> str | None:
            # A descriptor was opened elsewhere; an opener opens by `os.open`, which has the points.
            if mode in ("r", "rb") or opener is not None or isinstance(file, int):
                return None
            return scope.of_name(file, None, follow=True) if set("wax+") & set(mode) else None

        @functools.wraps(original)
        def init(raw: io.FileIO, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            try:
                path = path_of(*args, **kwargs) if tracker.active else None
            except Exception:  # wrong arguments: the original says so best
                path = None
            if path is None:
                return original(raw, *args, **kwargs)
            tracker.passed("open:enter", (path,))
            original(raw, *args, **kwargs)
            try:
                scope.remember(raw.fileno(), path)
                tracker.passed("open:exit", (path,))
            except BaseException:
                raw.close()  # the caller never learns of it
                raise
            return None

        return init


class _Scope:
    """Which paths and descriptors count."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._state: list[Path] = []
        self._roots: frozenset[str] = frozenset()
        self._prefixes: tuple[str, ...] = ()
        self._outside: set[str] = set()
        """directories known to lead nowhere inside"""
        self._opened: dict[int, tuple[int, int, str | None]] = {}
        """descriptor -> device, inode and the path that it was opened by"""

    def of_name(self, given: Any, dir_fd: int | None = None, follow: bool = False) -> str | None:
        """The absolute path if it lies inside, whether by its name or by links on the way.

        `follow` says whether the call follows a link at the end of the path as well.
        """
        if self._tracker.state != self._state:
            self._look_at_state()
        path = os.fsdecode(given)
        if not path.startswith("/"):
            path = f"{_getcwd() if dir_fd is None else _path_of_fd(dir_fd)}/{path}"
        if "/." in path or "//" in path:
            path = os.path.normpath(path)
        if not self._is_inside(path):
            real = self._real(path, follow)
            if real is None:
                return None
            path = real
        return None if "__pycache__" in path or path.endswith(".pyc") else path

    def of_names(self, *names: tuple[Any, int | None]) -> Sequence[str] | None:
        """All the paths, if one of them lies inside."""
        inside = [self.of_name(name, dir_fd) for name, dir_fd in names]
        if not any(inside):
            return None
        # zip without `strict`, which came with Python 3.10
        return tuple(path or os.fsdecode(name) for path, (name, _) in zip(inside, names))  # noqa: B905

    def of_fd(self, fd: int, directories: bool = False) -> Sequence[str] | None:
        """The path of an open file, as it was opened, if it lies inside."""
        if fd <= _LAST_STANDARD_FD:
            return None
        status = _fstat(fd)
        if not (stat.S_ISREG(status.st_mode) or (directories and stat.S_ISDIR(status.st_mode))):
            return None
        device, inode, path = self._opened.get(fd, (0, 0, None))
        if (device, inode) != (status.st_dev, status.st_ino):
            path = _path_of_fd(fd)
            path = self.of_name(path) if path else None
            self._opened[fd] = status.st_dev, status.st_ino, path
        return None if path is None else (path,)

    def remember(self, fd: int, path: str) -> None:
        status = _fstat(fd)
        self._opened[fd] = status.st_dev, status.st_ino, path

    def _look_at_state(self) -> None:
        self._state = list(self._tracker.state)
        roots = {str(path) for path in self._state} | {_realpath(path) for path in self._state}
        self._roots = frozenset(roots)
        self._prefixes = tuple(f"{root}/" for root in roots)
        self._outside.clear()
        self._opened.clear()

    def _is_inside(self, path: str) -> bool:
        return path.startswith(self._prefixes) or path in self._roots

    def _real(self, path: str, follow: bool) -> str | None:
        """Where a path leads that doesn't look as if it lay inside; None if it doesn't."""
        if not self._prefixes:
            return None
        if follow and _islink(path):
            real = _realpath(path)
            return real if self._is_inside(real) else None
        directory, _, name = path.rpartition("/")
        if directory in self._outside:
            return None
        real = f"{_realpath(directory or '/')}/{name}"
        if self._is_inside(real):
            return real
        self._outside.add(directory)
        return None


def _path_of_fd(fd: int) -> str:
    """The path of an open file or directory now; empty where the system doesn't tell."""
    try:
        path = _readlink(f"/proc/self/fd/{fd}")
    except OSError:
        get_path = getattr(fcntl, "F_GETPATH", None)  # macOS
        return os.fsdecode(fcntl.fcntl(fd, get_path, bytes(1024)).rstrip(b"\0")) if get_path else ""
    deleted = " (deleted)"
    return path[: -len(deleted)] if path.endswith(deleted) else path
