"""A settings file that is rewritten in place.

Models `open(path, "w")`. From the moment it is opened until it is written it's empty, and after a
death it stays so: the next start finds no settings, or half of them.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

from sample_app.settings import NAME, Settings

TWIN = "sample_app.settings:save"
HARM = "The next start finds no settings, or half of them."
FAILS_AT = ("sample_app.settings.opened+1:crash", "sample_app.settings.written+1:crash")


def save(home: Path, settings: Settings) -> None:
    # The mistake: this truncates the only copy.
    with (home / NAME).open("w", encoding="utf-8") as file:
        sys.audit("sample_app.settings.opened", NAME)
        json.dump(asdict(settings), file, indent=2)
        sys.audit("sample_app.settings.written", NAME)  # in a buffer, and nowhere else
    sys.audit("sample_app.settings.replaced", NAME)
