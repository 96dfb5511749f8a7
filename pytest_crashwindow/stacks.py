"""Stacks as faulthandler writes them, cut down to the user's part."""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BEGINNINGS = (_PACKAGE + "living.py", _PACKAGE + "worlds.py", "/_pytest/python.py", "/_pytest/unittest.py")
"""below these files lies how the process came to run the user's code"""


def own_part(text: str) -> str:
    """The text without the frames of the plugin, and without those of pytest below them."""
    kept = []
    below = False
    for line in text.splitlines():
        file = line.partition('  File "')[2].partition('"')[0]
        below = bool(file) and (below or file.endswith(_BEGINNINGS))
        if not below and not file.startswith(_PACKAGE):
            kept.append(line)
    return "\n".join(kept)
