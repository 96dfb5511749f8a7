"""Stacks are cut down to the user's part."""

from __future__ import annotations

from pathlib import Path

import pytest_crashwindow
from pytest_crashwindow.stacks import own_part

PACKAGE = Path(pytest_crashwindow.__file__).parent


def test_frames_of_the_plugin_and_what_lies_below_the_life_are_left_out() -> None:
    text = f"""Thread 0x01 (most recent call first):
  File "{PACKAGE}/tracker.py", line 1 in stop_life
  File "/shop.py", line 2 in pay
  File "{PACKAGE}/living.py", line 3 in _run
  File "/_pytest/runner.py", line 4 in main

Current thread 0x02 (most recent call first):
  File "/shop.py", line 5 in wait
"""
    assert own_part(text).splitlines() == [
        "Thread 0x01 (most recent call first):",
        '  File "/shop.py", line 2 in pay',
        "",
        "Current thread 0x02 (most recent call first):",
        '  File "/shop.py", line 5 in wait',
    ]


def test_other_text_stays() -> None:
    assert own_part("hello\nworld") == "hello\nworld"
