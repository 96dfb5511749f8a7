"""A call that is replaced under each of its names."""

# $ pytest -vv rebound.py
# $ pytest --crashwindow-list rebound.py

import functools

import pytest


@functools.lru_cache
def price(x):
    return x


PRICES = [price]


@pytest.mark.crash_windows("rebound:price")
def test_price(crashwindow):
    crashwindow.supervise(lambda: PRICES[0](1))
