"""Where SQLite connections were opened, so that one left open across a fork can be pointed at.

While a test with the fixture runs, `sqlite3.Connection.__init__` notes the line that called it; the
type is put back as it was at the test's end. No audit hook is needed, which could not be removed.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import unquote, urlsplit

from . import originals
from .errors import OpenConnection
from .world import open_sqlite_files

_LIBRARY = (sqlite3.__file__.rpartition("/")[0], __file__)


class OpenedAt:
    """Notes the caller of every new connection between `watch` and `forget`."""

    def __init__(self) -> None:
        self._noted: dict[str, str] = {}
        """the latest caller for each database file"""
        self._original: Callable[..., None] | None = None
        self._noting = True

    def watch(self) -> None:
        """Begin to note."""
        from .surgery import thawed

        original = sqlite3.Connection.__init__

        def __init__(connection: sqlite3.Connection, *args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            original(connection, *args, **kwargs)
            if self._noting:
                self._note(args[0] if args else kwargs.get("database"), sys._getframe(1))

        self._original = original
        with thawed(sqlite3.Connection):
            sqlite3.Connection.__init__ = __init__  # type: ignore[method-assign, assignment]

    def _note(self, database: object, caller: FrameType | None) -> None:
        while caller is not None and caller.f_code.co_filename.startswith(_LIBRARY):
            caller = caller.f_back
        try:
            path = originals.realpath(_name_of(database))
        except OSError:  # in memory, where the working directory is gone
            return
        self._noted[path] = f"at {caller.f_code.co_filename}:{caller.f_lineno}" if caller is not None else "at ?"

    def rest(self) -> None:
        """Note no more in this process: it is a life, from which none is forked."""
        self._noting = False

    def forget(self) -> None:
        """Put the type back."""
        from .surgery import thawed

        if self._original is not None:
            with thawed(sqlite3.Connection):
                sqlite3.Connection.__init__ = self._original  # type: ignore[method-assign]
            self._original = None
        self._noted.clear()

    def refuse_open_ones(self, below: Collection[Path] = ()) -> None:
        """Raise OpenConnection if a database is open in this process, naming where it was opened.

        With `below` only if its file is, or lies in, one of these; for a sweep puts those back under it.
        """
        __tracebackhide__ = True
        paths = open_sqlite_files(self._noted)
        if below:
            places = {Path(os.path.realpath(place)) for place in below}
            paths = [path for path in paths if not places.isdisjoint((Path(path), *Path(path).parents))]
        if not paths:
            return
        elsewhere = "before this test, or not by sqlite3"
        opened = [f"{path}, opened {self._noted.get(path, elsewhere)}" for path in paths]
        what = f"a database connection is open ({'; '.join(opened)})"
        if below:
            raise OpenConnection(
                f"{what}, and the sweep is to put its file back as it was for every window. "
                "Close it before the fixture yields, or open it in the test body or inside the life."
            )
        raise OpenConnection(
            f"{what}, and a life is to be forked. "
            "SQLite connections don't survive a fork: the copy can corrupt the database. "
            "Close it before run() or start(), or open it inside the life."
        )


def _name_of(database: object) -> str:
    """The name of the file that a connection's first argument means."""
    name = os.fsdecode(database) if isinstance(database, str | bytes | os.PathLike) else ""
    return unquote(urlsplit(name).path) if name.startswith("file:") else name
