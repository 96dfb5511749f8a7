"""The HTML report: one file that needs nothing else. The page is `page.html`, `page.css` and `page.js`.

The story of each window is a JSON text of its own in the page, which the script reads only when the window
is opened; a page with thousands of windows opens as fast as its list.
"""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from .gathering import Window, node_of
from .json import Document

_STORY = ("failure", "fired", "timeline", "output")


def render(doc: Document) -> str:
    """The text of the file."""
    style, script = _part("page.css"), _part("page.js")
    index, stories = _split(doc)
    parts = {
        "POLICY": (
            f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        ),
        "STYLE": style,
        "DATA": "\n".join([_data("data", index), *(_data(f"story-{n}", story) for n, story in enumerate(stories))]),
        "SCRIPT": script,
    }
    page = _part("page.html")
    out = []
    for piece in page.split("{{"):
        name, found, rest = piece.partition("}}")
        out.append(parts[name] + rest if found else piece)
    return "".join(out)


def _split(doc: Document) -> tuple[Document, list[Any]]:
    """What the overview needs, and one story for each window and each control."""
    stories: list[Any] = []
    tests = []
    for test in doc["tests"]:
        stories.append(test["control"])
        control = len(stories) - 1
        windows = [_light(test["test"], test["kind"], window, stories) for window in test["windows"]]
        tests.append({**test, "control": control, "windows": windows})
    return {**doc, "tests": tests}, stories


def _light(test: str, kind: str, window: Window, stories: list[Any]) -> Window:
    stories.append({name: window[name] for name in _STORY})
    kept = {name: value for name, value in window.items() if name not in _STORY}
    return {**kept, "id": test if kind == "armed" else node_of(test, window["window"]), "story": len(stories) - 1}


def _data(name: str, value: Any) -> str:
    return f'<script type="application/json" id="{name}">{_json(value)}</script>'


def _json(value: Any) -> str:
    """JSON that is safe inside a script element: no `<` can end it, and no `-->` or `]]>` mean anything."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
