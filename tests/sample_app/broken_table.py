"""The page about the broken variants, made from their modules.

python tests/sample_app/broken_table.py     writes docs/explanation/broken-variants.md
"""

from __future__ import annotations

import importlib
import re
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "broken-variants.md"

HEAD = """\
# The broken variants

Each module of `sample_app/broken/` is one part of the [sample app](sample-app.md) with exactly one mistake. A sweep
finds each mistake in the windows listed here and in no others, and its correct twin passes in all of them
(`tests/sample_app/test_broken_variants.py`).

Points begin with `sample_app.`, which is left out here. This page is made from the modules by
`python tests/sample_app/broken_table.py`, and a test compares it with them.

| variant | what it models | windows that expose it | what happens to the user | correct twin |
|---|---|---|---|---|
"""


def text() -> str:
    """The whole page."""
    sys.path.insert(0, str(ROOT))
    try:
        broken = importlib.import_module("sample_app.broken")
        return HEAD + "".join(_row(name) for name in sorted(broken.VARIANTS))
    finally:
        sys.path.remove(str(ROOT))


def _row(name: str) -> str:
    module = importlib.import_module(f"sample_app.broken.{name}")
    cells = (f"`{name}`: {_summary(module.__doc__)}", _models(module.__doc__), _windows(module.FAILS_AT))
    return f"| {' | '.join(cells)} | {module.HARM} | `{module.TWIN.removeprefix('sample_app.')}` |\n"


def _summary(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split()).rstrip(".")


def _models(doc: str) -> str:
    """What follows the word "Models", up to the end of its sentence."""
    found = re.search(r"Models (.*?)(?<!\.)\.(?: [A-Z]|$)", " ".join(doc.split()))
    assert found is not None, f"what does it model? {doc}"
    return found[1]


def _windows(ids: tuple[str, ...]) -> str:
    """By fault, with the hit where it isn't the first."""
    told = []
    for fault, group in groupby(sorted(ids, key=_fault), _fault):
        points = [window.rpartition(":")[0].removeprefix("sample_app.").removesuffix("+1") for window in group]
        told.append(f"{fault} at " + ", ".join(f"`{point}`" for point in points))
    return "; ".join(told)


def _fault(window: str) -> str:
    return window.rpartition(":")[2]


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
