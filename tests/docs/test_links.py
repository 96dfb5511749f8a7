"""Every relative link and anchor leads somewhere, in the pages and in what the plugin prints."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_crashwindow.report import kinds

sys.path.insert(0, str(Path(__file__).parent))
import pages

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PAGE_IN_CODE = re.compile(r"\bdocs/[\w/.\-]+\.(?:md|json)(?:#[\w\-]+)?")


def _id(page: Path) -> str:
    return str(page.relative_to(pages.ROOT))


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", pages.without_blocks(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
        if found[slug]:
            found[f"{slug}-{found[slug]}"] = 0
    return set(found)


def problems(page: Path) -> Iterator[str]:
    for link in _LINK.findall(pages.without_blocks(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{link}: there is no such heading; there are {sorted(anchors(target))}"


@pytest.mark.parametrize("page", pages.PAGES, ids=_id)
def test_links_of_a_page(page: Path) -> None:
    assert list(problems(page)) == []


def test_every_page_is_reached_from_the_index() -> None:
    todo, reached = [pages.ROOT / "docs" / "README.md"], set[Path]()
    while todo:
        page = todo.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = _LINK.findall(pages.without_blocks(page))
        todo += [(page.parent / link.partition("#")[0]).resolve() for link in links if ":" not in link]
    assert [_id(page) for page in pages.PAGES if page not in reached and page.parent != pages.ROOT] == []


def test_pages_that_messages_name() -> None:
    for file in (pages.ROOT / "pytest_crashwindow").rglob("*.*"):
        if file.suffix not in (".py", ".html", ".js"):
            continue
        for link in _PAGE_IN_CODE.findall(file.read_text(encoding="utf-8")):
            path, _, anchor = link.partition("#")
            assert (pages.ROOT / path).exists(), f"{_id(file)} names {link}"
            assert not anchor or anchor in anchors(pages.ROOT / path), f"{_id(file)} names {link}"


def test_pages_that_hints_name() -> None:
    found = [kind for kind in vars(kinds).values() if isinstance(kind, kinds.Kind)]
    assert found
    for kind in found:
        assert (pages.ROOT / kind.file).exists(), kind
