"""Which point names a project has, so that a misspelled one is an error and not a silent pass."""

from __future__ import annotations

import ast
import difflib
import os
import re
import sys
import sysconfig
import warnings
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

Places = dict[str, tuple[Path, int]]
"""name of an audit event -> the first file and line where it is raised"""

_PREFILTER = b"audit"
_IN_TEXT = re.compile(r"""audit\(\s*(["'])(?P<name>[^"'\n]+)\1""")
_NEVER = frozenset({"__pycache__", "node_modules", "site-packages"})


def literal_points(root: Path, skip_globs: Iterable[str] = ()) -> Places:
    """The names in literal `audit("...")` calls of all Python files under `root`.

    Directories are left out that match one of `skip_globs` (as pytest's `norecursedirs`: by name, or by
    path if the glob has a `/`), that are hidden, or that are virtual environments. Files that can't be
    read or parsed are searched as text, or not at all.
    """
    return _points_in(_python_files(root, tuple(skip_globs)))


def imported_points() -> Places:
    """The same for the modules imported so far, except those of the standard library."""
    library = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib"))
    others = tuple(sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib"))
    own = os.path.dirname(os.path.abspath(__file__)) + os.sep
    files = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py") or file.startswith(own):
            continue
        if file.startswith(others) or not file.startswith(library):
            files.append(Path(file))
    return _points_in(sorted(set(files)))


def near_names(name: str, known: Collection[str], n: int = 3) -> list[str]:
    """At most `n` known names that may have been meant, the likeliest first."""
    folded: dict[str, list[str]] = {}
    for candidate in sorted(known):
        folded.setdefault(candidate.casefold(), []).append(candidate)
    wanted = name.casefold()
    near = [
        *folded.get(wanted, ()),
        *_meant(folded, [c for c in folded if _ends_with(c, wanted)]),
        *_meant(folded, difflib.get_close_matches(wanted, folded, n + 1)),  # one of them may be itself
        *_meant(folded, [c for c in folded if _last(c) == _last(wanted)]),
    ]
    return [found for found in dict.fromkeys(near) if found != name][:n]


def _meant(folded: dict[str, list[str]], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from folded[name]


def _ends_with(longer: str, end: str) -> bool:
    return longer.endswith((f".{end}", f":{end}"))


def _last(name: str) -> str:
    return re.split(r"[.:]", re.sub(r":(enter|exit)$", "", name))[-1]


# -- files ---------------------------------------------------------------------------------------


def _python_files(root: Path, skip_globs: tuple[str, ...]) -> Iterator[Path]:
    for directory, subdirectories, files in os.walk(root):
        subdirectories[:] = sorted(d for d in subdirectories if _is_entered(directory, d, skip_globs))
        for file in sorted(files):
            if file.endswith((".py", ".pyw")):
                yield Path(directory, file)


def _is_entered(parent: str, name: str, skip_globs: tuple[str, ...]) -> bool:
    if name.startswith(".") or name in _NEVER:
        return False
    path = os.path.join(parent, name)
    for glob in skip_globs:
        # As in pytest: a glob with a separator is for the path, and means its end unless it is absolute.
        if os.sep not in glob:
            if fnmatch(name, glob):
                return False
        elif fnmatch(path, glob if os.path.isabs(glob) else f"*{os.sep}{glob}"):
            return False
    return not os.path.exists(os.path.join(path, "pyvenv.cfg"))


# -- calls in a file -----------------------------------------------------------------------------


def _points_in(files: Iterable[Path]) -> Places:
    places: Places = {}
    for file in files:
        try:
            source = file.read_bytes()
        except OSError:
            continue
        if _PREFILTER in source:
            for name, line in _names_in(source):
                places.setdefault(name, (file, line))
    return places


def _names_in(source: bytes) -> list[tuple[str, int]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a file's own syntax warnings are not our business
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = source.decode("utf-8", "replace")
        return [(found["name"], text.count("\n", 0, found.start()) + 1) for found in _IN_TEXT.finditer(text)]
    nodes = list(ast.walk(tree))
    aliases, constants = _names_and_constants(nodes)
    found = ((_event(node, aliases, constants), node.lineno) for node in nodes if isinstance(node, ast.Call))
    return sorted(((name, line) for name, line in found if name), key=lambda place: place[1])


def _names_and_constants(nodes: Iterable[ast.AST]) -> tuple[set[str], dict[str, str]]:
    """Under which names a file calls `sys.audit`, and which of its names are plain strings."""
    aliases, constants = {"audit"}, dict[str, str]()
    for node in nodes:
        match node:
            case ast.ImportFrom(module="sys"):
                aliases.update(alias.asname or alias.name for alias in node.names if alias.name == "audit")
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="audit")):
                aliases.add(name)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text)))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=str(text)))
            ):
                constants[name] = text
    return aliases, constants


def _event(call: ast.Call, aliases: set[str], constants: dict[str, str]) -> str | None:
    match call.func:
        case ast.Attribute(attr="audit"):
            pass
        case ast.Name(id=name) if name in aliases:
            pass
        case _:
            return None
    match call.args:
        case [ast.Constant(value=str(text)), *_]:
            return text
        case [ast.Name(id=name), *_]:
            return constants.get(name)
    return None
