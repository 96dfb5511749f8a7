"""The settings of an installation: one JSON file, replaced as a whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from .durable import sync
from .errors import AppError
from .jobs import LEASE
from .ticket_desk import RETENTION

NAME = "settings.json"


@dataclass(frozen=True)
class Settings:
    lease: float = LEASE  # seconds
    tickets: str | None = None  # URL of the ticket service
    ticket_mode: str = "keys"
    ticket_retention: float = RETENTION  # seconds


def load(home: Path) -> Settings:
    """The saved settings, or the defaults where none were saved."""
    path = home / NAME
    try:
        return Settings(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return Settings()
    except (ValueError, TypeError) as error:
        raise AppError(f"unreadable settings ({error}): {path}") from error


def save(home: Path, settings: Settings) -> None:
    """Write beside the file, make that durable, then rename: a reader sees the old or the new."""
    path = home / NAME
    part = path.with_name(f"{NAME}.part")
    with part.open("w", encoding="utf-8") as file:
        sys.audit("sample_app.settings.opened", NAME)
        json.dump(asdict(settings), file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    sys.audit("sample_app.settings.written", NAME)
    os.replace(part, path)
    sync(home)
    sys.audit("sample_app.settings.replaced", NAME)
