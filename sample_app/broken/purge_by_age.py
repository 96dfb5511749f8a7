"""A purge that looks at the age of a key, and at nothing else.

Models a nightly `DELETE ... WHERE received_at < now - 30 days`, or a TTL in a cache. The event whose
answer got lost is still in the outbox, and comes again as something new.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sample_app import db
from sample_app.retention import DEFAULT, Policy, Purged

TWIN = "sample_app.retention:purge"
HARM = "The owner gets the same notice again, a month later."
# The sender is unaware that the event arrived; the receiver forgets it; the event comes again.
FAILS_AT = (
    "sample_app.receiver.committed+1:crash",
    "sample_app.outbox.answered+1:crash",
    "sample_app.outbox.before_marked+1:crash",
)


def purge(home: Path, older_than: float, now: float, policy: Policy = DEFAULT) -> Purged:
    result = Purged()
    with db.receiver(home) as conn:
        with db.transaction(conn):
            # The mistake: old isn't the same as over.
            rows = conn.execute(
                "DELETE FROM inbox WHERE received_at < ? RETURNING event_id", (now - older_than,)
            ).fetchall()
            result.forgotten.extend(row["event_id"] for row in rows)
            sys.audit("sample_app.purge.before_keys_forgotten", len(rows))
        sys.audit("sample_app.purge.receiver_forgot", len(rows))
    return result
