"""Finding the texts in the plugin's source, and whether the golden texts have them.

A text is a string of at least two words that is no docstring. Its constant parts must come one after another
in some golden text: of `f"life {name!r} is paused at {point}"` those are `life`, `is paused at`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TWO_WORDS = re.compile(r"[A-Za-z]{2}[,;:.'`]* [A-Za-z`]|[A-Za-z] [A-Za-z]{2}")
_FIELD = re.compile(r"\{\w+\}")  # of a text that `format` fills in later
_BETWEEN = ".{0,400}?"  # what stands for a value


@dataclass(frozen=True)
class Text:
    """A text in the source."""

    place: str
    """file and line"""
    parts: tuple[str, ...]
    """what of it is constant"""

    def __str__(self) -> str:
        return "{}".join(self.parts)

    def is_in(self, told: str) -> bool:
        """Whether it is in `told`, which is on one line."""
        parts = [re.escape(on_one_line(part)) for part in self.parts]
        return re.search(_BETWEEN.join(part for part in parts if part), told) is not None


def on_one_line(text: str) -> str:
    """Without line breaks, be they of the text or of pytest, which puts `E` before the lines of an exception."""
    return " ".join(re.sub(r"^E {1,3}", "", text, flags=re.MULTILINE).split())


def texts_of(package: Path) -> list[Text]:
    """All texts in the Python files of a folder."""
    return [text for file in sorted(package.rglob("*.py")) for text in texts_in(file, package)]


def texts_in(file: Path, package: Path) -> Iterator[Text]:
    """The texts of one file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    known = _docstrings(tree)
    for node in ast.walk(tree):
        if node in known:
            continue
        parts = _parts(node)
        if any(_TWO_WORDS.search(part) for part in parts):
            yield Text(f"{file.relative_to(package)}:{node.lineno}", parts)  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr):
            known.update(part for part in node.values if isinstance(part, ast.Constant))


def _docstrings(tree: ast.AST) -> set[ast.AST]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def _parts(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.JoinedStr():
            return tuple(part.value for part in node.values if isinstance(part, ast.Constant))
        case ast.Constant(value=str(text)):
            return tuple(part for part in _FIELD.split(text) if part)
        case _:
            return ()
