"""The states of a job, and every move between them (moves.py makes them; nothing else does)."""

from __future__ import annotations

from typing import NamedTuple

FINAL = frozenset({"done", "cancelled", "dead"})


class Move(NamedTuple):
    """Who may take a job from which states to which."""

    sources: frozenset[str]
    to: str
    who: str


def _from(*sources: str) -> frozenset[str]:
    return frozenset(sources)


MOVES: dict[str, Move] = {
    # "running" only where the lease has expired; "pending" only where nothing is waited for
    "claimed": Move(_from("pending", "retryable", "running"), "running", "worker"),
    "finished": Move(_from("running"), "done", "worker"),
    "failed_safely": Move(_from("running"), "retryable", "worker"),
    "became_uncertain": Move(_from("running"), "uncertain", "worker"),
    "lacks_info": Move(_from("pending", "running", "retryable"), "needs_info", "worker, migration"),
    "info_given": Move(_from("needs_info"), "pending", "operator, approval request"),
    "released": Move(_from("running"), "pending", "reaper"),
    "gave_up": Move(_from("running", "retryable"), "dead", "worker, reaper"),
    "requeued": Move(_from("dead"), "pending", "operator"),
    "settled": Move(_from("uncertain"), "pending", "reconciler, operator"),
    "cancelled": Move(
        _from("pending", "running", "retryable", "needs_info", "uncertain"),
        "cancelled",
        "operator, approval, reconciler",
    ),
}
