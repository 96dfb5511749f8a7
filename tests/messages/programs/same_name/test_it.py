"""A fault of a plugin that is called like one of ours, and a public name that doesn't exist."""

# $ pytest
# $ rm conftest.py; pytest


def test_name():
    from pytest_crashwindow import Crashwindow  # noqa: F401


def test_attribute():
    import pytest_crashwindow

    _ = pytest_crashwindow.Crashwindow
