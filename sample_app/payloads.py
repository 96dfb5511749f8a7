"""What a request for a report must say, and which parts of it name the work."""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import BadPayload

Payload = dict[str, Any]

# Whatever changes the outcome besides the input. A new prompt is new work, not a retry.
VERSIONS = {"worker": "1", "prompt": "1", "schema": "2"}

_TEXTS = ("customer", "period", "input_version", "owner")


def parse(text: str) -> Payload:
    """A payload from JSON text."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadPayload(f"malformed payload: not JSON ({error})") from error
    return check(value)


def check(value: Any) -> Payload:
    if not isinstance(value, dict):
        raise BadPayload(f"malformed payload: expected an object, got {type(value).__name__}")
    for field in _TEXTS:
        if not isinstance(value.get(field), str) or not value[field]:
            raise BadPayload(f"malformed payload: {field!r} must be a non-empty text")
    if type(value.get("amount")) is not int:  # bool is an int, and no amount
        raise BadPayload("malformed payload: 'amount' must be a whole number of minor units")
    if not re.fullmatch("[A-Z]{3}", str(value.get("currency", ""))):
        raise BadPayload("malformed payload: 'currency' must be three capital letters")
    return value


def key_of(payload: Payload) -> str:
    """The task key: what the work is about, whoever tries and however often."""
    return "/".join(payload[field] for field in ("customer", "period", "input_version"))
