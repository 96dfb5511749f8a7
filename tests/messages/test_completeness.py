"""No text of the plugin is without a golden one: what is said to users has been read by somebody."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_crashwindow

from .conftest import GOLDEN
from .finding import Text, on_one_line, texts_in, texts_of

PACKAGE = Path(pytest_crashwindow.__file__).parent

NO_MESSAGE = "is no text for people"
EXCEPTIONS: dict[str, str] = {
    "compile exec import open": NO_MESSAGE,  # names of audit events
    "database table is locked": NO_MESSAGE,  # looked for in errors of others
    "perform the call twice": NO_MESSAGE,
    "pragma database_list": NO_MESSAGE,
    "create table t(x)": NO_MESSAGE,
    "insert into t values": NO_MESSAGE,
    "async def": NO_MESSAGE,  # source code
    "yield from": NO_MESSAGE,
    "<script type=": NO_MESSAGE,
    "default-src 'none'": NO_MESSAGE,
    "failed subtest": "pytest 9 alone has subtests, and these are its words",
    "coroutine function": "named only where a coroutine function would be refused, and none is",
    "Skipped: explored {} of {} windows": "pytest takes the first word away; the rest is in runs.txt",
}
"""beginnings of texts that no golden text has -> why"""


@pytest.fixture(scope="module")
def told() -> str:
    """All golden texts."""
    return "\n".join(on_one_line(file.read_text(encoding="utf-8")) for file in sorted(GOLDEN.glob("*.txt")))


def _excepted(text: Text) -> list[str]:
    return [beginning for beginning in EXCEPTIONS if str(text).strip().startswith(beginning)]


def test_every_text_has_a_golden_one(told: str) -> None:
    missing = [text for text in texts_of(PACKAGE) if not text.is_in(told) and not _excepted(text)]
    assert not missing, "no golden text has:\n" + "\n".join(f"  {text.place}  {str(text)!r}" for text in missing)


def test_no_exception_outlives_its_reason(told: str) -> None:
    needed = {beginning for text in texts_of(PACKAGE) if not text.is_in(told) for beginning in _excepted(text)}
    assert needed == EXCEPTIONS.keys()


# -- that all this can fail ----------------------------------------------------------------------

SOURCE = '''
"""Of a module."""

def refuse(name, n):
    """Of a function."""
    hint = "call it first" if n else ""
    raise ValueError(f"life {name!r} has no value"
                     f" after {n} seconds: {hint}")

HAPPENED = {"crash": "was killed {right} {point}", "key": "word"}
'''


@pytest.fixture
def texts(tmp_path: Path) -> list[Text]:
    (tmp_path / "module.py").write_text(SOURCE)
    return sorted(texts_in(tmp_path / "module.py", tmp_path), key=lambda text: text.place)


def test_texts_are_found_and_docstrings_and_single_words_are_not(texts: list[Text]) -> None:
    assert [str(text) for text in texts] == [
        "was killed {} ",
        "call it first",
        "life {} has no value after {} seconds: ",
    ]
    assert texts[0].place == "module.py:10"


@pytest.mark.parametrize(
    ("told", "has"),
    [
        ("life 'a' has no value after 3 seconds: call it first", True),
        ("E   life 'a' has no\nE   value after 3\nE   seconds: call it first", True),
        ("life 'a' has a value after 3 seconds: call it first", False),
        ("after 3 seconds: life 'a' has no value", False),
    ],
)
def test_a_text_is_told_if_its_parts_are_in_their_order(texts: list[Text], told: str, has: bool) -> None:
    assert texts[-1].is_in(on_one_line(told)) is has


def test_a_new_text_in_the_plugin_would_be_missed(told: str) -> None:
    assert not Text("new.py:1", ("nobody has ever read ", " this sentence")).is_in(told)
