"""What the tests of report files share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report-schema.json"


def read(path: Path) -> dict[str, Any]:
    """A JSON report that is what the schema says."""
    jsonschema = pytest.importorskip("jsonschema")
    doc: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(doc, schema, jsonschema.Draft202012Validator)
    return doc


def verdicts(test: dict[str, Any]) -> dict[str, str]:
    """Of a test in a report: window -> verdict, in order."""
    return {window["window"]: window["verdict"] for window in test["windows"]}
