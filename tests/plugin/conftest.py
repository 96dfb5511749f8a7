"""What the tests of the plugin share: pytest run on a small file, as a user runs it."""

from __future__ import annotations

from textwrap import dedent
from typing import Protocol

import pytest

WITHOUT_OTHERS = ("-p", "no:randomly", "-p", "no:asyncio", "-p", "no:xdist")
"""plugins that may be installed and would change the order, or print and start more than is looked at"""


class Run(Protocol):
    """Write `test_it.py`, run pytest on it in a process of its own, return what it said."""

    def __call__(self, source: str, *args: str) -> pytest.RunResult: ...


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Write a test file and run pytest on it; base temp is a clean directory below the test's own."""

    def run(source: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=dedent(source))
        return pytester.runpytest_subprocess(*WITHOUT_OTHERS, *args)

    return run
