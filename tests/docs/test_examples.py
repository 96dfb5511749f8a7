"""Every example of the README and the docs is run, and prints what the page says."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import pages


def _id(page: Path) -> str:
    return str(page.relative_to(pages.ROOT))


TRANSLATED = [page for page in pages.PAGES if pages.translation(page).exists()]
WITH_FILES = [page for page in pages.PAGES if any(block.title for block in pages.blocks(page))]
RUNNABLE = [page for page in WITH_FILES if page not in map(pages.translation, TRANSLATED)]


@pytest.mark.parametrize("page", RUNNABLE, ids=_id)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    for module, command in (("coverage", "$ coverage "), ("xdist", " -n ")):
        if any(command in block.text for block in pages.blocks(page) if block.language == "console"):
            pytest.importorskip(module)
    folder = tmp_path / page.stem
    folder.mkdir()
    for block, command, said, printed in pages.play(page, folder):
        found = pages.first_difference(pages.alike(said), pages.alike(printed, folder))
        where = f"{_id(page)}:{block.line}: $ {command}"
        again = f"python tests/docs/pages.py {_id(page)}"
        assert found is None, f"{where}\nthe first line that differs: {found}\n{again} puts this in:\n{printed}"


@pytest.mark.parametrize("page", pages.PAGES, ids=_id)
def test_python_is_python(page: Path) -> None:
    for block in pages.blocks(page):
        if block.language == "python":
            ast.parse(block.text, filename=f"{_id(page)}:{block.line}")


@pytest.mark.parametrize("page", pages.PAGES, ids=_id)
def test_a_page_with_commands_has_the_files_they_need(page: Path) -> None:
    kinds = {block.language for block in pages.blocks(page) if block.title is None}
    assert page in WITH_FILES or "console" not in kinds, "a console block is run: use sh for what is only to be read"


@pytest.mark.parametrize("page", TRANSLATED, ids=_id)
def test_a_translation_has_the_same_examples(page: Path) -> None:
    both = [pages.blocks(page), pages.blocks(pages.translation(page))]
    here, there = ([(b.info, b.text) for b in of if pages.is_shared(b)] for of in both)
    assert here == there


@pytest.mark.parametrize("page", TRANSLATED, ids=_id)
def test_a_translation_has_the_same_sections(page: Path) -> None:
    both = [pages.without_blocks(page), pages.without_blocks(pages.translation(page))]
    here, there = ([line.split()[0] for line in text.splitlines() if line.startswith("#")] for text in both)
    assert here == there
