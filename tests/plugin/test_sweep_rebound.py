"""Of calls that are replaced under each of their names it is said how many names those are, where one looks for it."""

from __future__ import annotations

import pytest

from .conftest import Run
from .sweeping import section

SOURCE = """
import functools, sys, pytest

@functools.lru_cache
def price(x):
    return x

kept = [price]
plain = {"send": lambda: None}

def send():
    import late
    return price(1), late.price(1)

@pytest.mark.crash_windows("test_it:price", calls=["late:price", "test_it:send"])
def test_it(crashwindow):
    crashwindow.supervise(send)
"""

SAID = ["  test_it:price: attached under 2 names", "  late:price: attached under 1 name"]


@pytest.mark.parametrize(("option", "said"), [("-v", SAID), ("--crashwindow-list", SAID), ("-q", [])])
def test_how_many_names_were_rebound(run: Run, pytester: pytest.Pytester, option: str, said: list[str]) -> None:
    pytester.makepyfile(late="import functools\n@functools.lru_cache\ndef price(x): return x")
    lines = [line for line in section(run(SOURCE, option)) if "attached under" in line]
    assert sorted(lines) == sorted(said)
