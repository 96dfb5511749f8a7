"""`--crashwindow-report=x.html`: one file that needs nothing else, in which everything from tests stays text.

How it looks and behaves in a browser is tested in tests/browser/.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .conftest import Run

NASTY = """
import sys, pytest

NAMES = ["<script>alert(1)</script>", "</script>", "<!--", "]]>", "\\u202eexe", "\\u2028"]

@pytest.mark.crash_windows
@pytest.mark.parametrize("name", NAMES, ids=range(6))
def test_nasty(crashwindow, tmp_path, name):
    def odd():
        sys.audit("shop.odd", name)
        print(name)

    life = crashwindow.run(odd, name=name)
    crashwindow.effects.record(name, name)
    crashwindow.observe(name, [{name: name}])
    assert not life.crashed, name
"""


class Page(HTMLParser):
    """Scripts of a page, and every address that something is loaded from."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"] and self.scripts:
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)


@pytest.fixture
def page(run: Run, pytester: pytest.Pytester) -> Page:
    run(NASTY, "--crashwindow-report=x.html")
    return Page(pytester.path / "x.html")


def test_nothing_is_loaded_from_anywhere(page: Page) -> None:
    assert {load.partition(":")[0] for load in page.loads if not load.startswith("#")} <= {"data"}


def test_data_is_json_that_no_text_can_end(page: Page) -> None:
    data = [(attrs["id"], json.loads(text)) for attrs, text in page.scripts if attrs.get("type") == "application/json"]
    index = data[0][1]
    stories = [text for attrs, text in page.scripts if (attrs.get("id") or "").startswith("story-")]
    assert len([attrs for attrs, _ in page.scripts if not attrs]) == 1
    assert len(index["tests"]) == 6
    assert len(stories) == sum(1 + len(test["windows"]) for test in index["tests"])
    assert not any(set(text) & set("<>&\u2028\u2029") for text in stories)
    assert any("<script>alert(1)</script>" in json.dumps(json.loads(text)) for text in stories)


def test_only_its_own_script_and_style_may_run(page: Page, pytester: pytest.Pytester) -> None:
    text = (pytester.path / "x.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy[1]
