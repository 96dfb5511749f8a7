"""What report files keep of a world: its timeline, its faults with the code around them, its output.

Everything here is data that JSON can hold and that can travel between xdist's processes.
"""

from __future__ import annotations

import linecache
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ..record import Fired
from ..windows import Step, Window
from ..world import World
from . import timeline

Effect = tuple[str, str, int]

_AROUND = 4  # lines of code before and after the one where a fault acted
_TAIL = 4000  # characters of a life's output
_ENTRIES = 400  # of a timeline; points in the middle are left out beyond that
_EXACT = 2**53  # whole numbers beyond that are not the same in every reader of JSON


def of_world(world: World, effects: Iterable[Effect], root: Path, tmp_path: Path | None) -> dict[str, Any]:
    """The story of a world. Files are named from `root` on; `tmp_path` is written for the test's own."""
    told = _starts_first(timeline.as_data(world, effects))
    faults = [entry for entry in told if entry["kind"] == "fault"]
    all_fired = [_fired(fired, entry["ms"], root) for fired, entry in zip(world.fired(), faults, strict=False)]
    for entry, fired in zip(faults, all_fired, strict=False):
        if source := fired["source"]:
            entry["detail"] = f"{source['file']}:{source['line']} in {source['function']}"
    story = {"timeline": _middle_left_out(told), "fired": all_fired, "output": _output(world)}
    kept: dict[str, Any] = plain(story, _shorten({tmp_path: "tmp_path", root: ""}))
    return kept


def of_report(report: pytest.TestReport) -> dict[str, str]:
    """Why a test body failed: in a line, and as pytest tells it."""
    if report.passed:
        return {"message": "", "failure": ""}
    if isinstance(report.longrepr, tuple):  # of a skip: file, line, reason
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        return {"message": plain(reason), "failure": plain(reason)}
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(getattr(crash, "message", "")) or report.longreprtext
    kept: dict[str, str] = plain({"message": _in_a_line(message), "failure": report.longreprtext})
    return kept


def _in_a_line(text: str) -> str:
    """The first line, or of a traceback the last, which has the exception."""
    lines = text.strip().splitlines() or [""]
    return lines[-1] if lines[0].startswith("Traceback ") else lines[0]


def armed_window(world: World) -> Window | None:
    """What fired in a test that arms faults by name, as the window of a sweep would be named."""
    fired = tuple(Step(one.point, one.ordinal, one.fault) for one in world.fired())
    return Window(fired) if fired else None


def plain(value: Any, shorten: Callable[[str], str] = str) -> Any:
    """The same value as every reader of JSON and every encoding can take it."""
    if isinstance(value, str):
        return shorten(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {plain(str(k)): plain(v, shorten) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, shorten) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value)
    return value


def shortener(item: pytest.Item) -> Callable[[str], str]:
    """Writes paths as people read them: from the root of the project, or from the test's `tmp_path`."""
    tmp_path = item.funcargs.get("tmp_path")  # type: ignore[attr-defined]
    return _shorten({tmp_path: "tmp_path", item.config.rootpath: ""})


def _shorten(folders: dict[Path | None, str]) -> Callable[[str], str]:
    names = [(f"{folder}{os.sep}", f"{name}{os.sep}" if name else "") for folder, name in folders.items() if folder]
    if tmp := next((folder for folder, name in folders.items() if folder and name), None):
        names.append((str(tmp), folders[tmp]))

    def shorten(text: str) -> str:
        for long, short in names:
            text = text.replace(long, short)
        return text

    return shorten


def _starts_first(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A life may pass points before the test body has come to write down that it started."""
    firsts: dict[str, int] = {}
    for i, entry in enumerate(told):
        firsts.setdefault(entry["life"], i)
    ordered = list(told)
    for entry in told:
        first = told[firsts[entry["life"]]]
        if entry["kind"] == "started" and first is not entry:
            ordered.remove(entry)
            ordered.insert(ordered.index(first), {**entry, "ms": first["ms"]})
    return ordered


def _middle_left_out(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A life that passes thousands of points needn't fill the report; everything else is kept."""
    passed = [i for i, entry in enumerate(told) if entry["kind"] == "point"]
    surplus = len(told) - _ENTRIES
    if surplus <= 0 or not passed:
        return told
    start = max(0, (len(passed) - surplus) // 2)
    out = set(passed[start : start + surplus])
    first = min(out)
    note = {"ms": told[first]["ms"], "kind": "left out", "life": "", "name": f"{len(out)} points", "detail": ""}
    return [note if i == first else entry for i, entry in enumerate(told) if i == first or i not in out]


def _fired(fired: Fired, ms: float, root: Path) -> dict[str, Any]:
    return {
        "fault": fired.fault,
        "point": fired.point,
        "hit": fired.ordinal,
        "life": fired.life,
        "ms": ms,
        "arguments": fired.arguments,
        "frames": _frames(fired),
        "source": source_of(fired, root),
    }


def source_of(fired: Fired, root: Path) -> dict[str, Any] | None:
    """The project's own line at which a fault acted, with the lines around it."""
    frames = _frames(fired)
    own = next((frame for frame in frames if _is_own(str(frame["file"]), root)), frames[0] if frames else None)
    return _source(own)


def _frames(fired: Fired) -> list[dict[str, Any]]:
    return [{"file": f, "line": line, "function": name} for f, line, name in fired.where if not _is_pytest(f)]


def _is_pytest(file: str) -> bool:
    return f"{os.sep}_pytest{os.sep}" in file or f"{os.sep}pluggy{os.sep}" in file


def _is_own(file: str, root: Path) -> bool:
    return file.startswith(f"{root}{os.sep}") and "site-packages" not in file


def _source(frame: dict[str, Any] | None) -> dict[str, Any] | None:
    """The lines around the place where the fault acted."""
    if frame is None:
        return None
    lines = linecache.getlines(frame["file"])
    if not 0 < frame["line"] <= len(lines):
        return None
    first = max(1, frame["line"] - _AROUND)
    return {**frame, "first": first, "lines": [t.rstrip() for t in lines[first - 1 : frame["line"] + _AROUND]]}


def _output(world: World) -> list[dict[str, str]]:
    told = []
    for life in dict.fromkeys(event["life"] for event in world.events() if event["event"] == "started"):
        files = world.files_of(life)
        out, err = _tail(files.stdout), _tail(files.stderr)
        if out or err:
            told.append({"life": life, "stdout": out, "stderr": err})
    return told


def _tail(path: str) -> str:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _TAIL))
            return file.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
