"""What is going to be done outside, in one normalised form that can be hashed.

The hash covers everything that a person who approves it has to rely on: the object, the tool and
its version, the parameters, who gets it, and what is attached.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .digests import digest
from .payloads import Payload

TOOL_VERSION = "publisher/1"


@dataclass(frozen=True)
class Action:
    object_id: str
    tool_version: str
    parameters: dict[str, str]
    recipients: list[str]
    attachments: list[str]

    def hash(self) -> str:
        return digest(self.as_json())

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def publication(task_key: str, version: int, payload: Payload, currency: str | None, body: str) -> Action:
    """Publishing one version of a report."""
    parameters = {
        # The currency is part of it: the same number in another one is another action.
        "title": f"Publish {task_key} v{version}, {payload['amount']} {currency}",
        "account": payload["customer"],
        "body": body,
    }
    normalised = {name: text.strip() for name, text in parameters.items()}
    recipients = sorted({payload["owner"].strip().lower()})
    return Action(task_key, TOOL_VERSION, normalised, recipients, [digest(body)])
