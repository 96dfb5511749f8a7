"""A migration in two transactions: the columns first, the rows after.

Models a schema tool that commits each statement. A death in between leaves a database that says it
is new and has rows of before, which nothing will ever migrate.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sample_app import db
from sample_app.migrations import currency_in
from sample_app.moves import move

TWIN = "sample_app.migrations:migrate"
HARM = "Amounts without a currency count as migrated, and are worked on as they are."
FAILS_AT = (
    "sample_app.migration.altered+1:crash",
    "sample_app.migration.job_migrated+1:crash",
    "sample_app.migration.job_migrated+2:crash",
    "sample_app.migration.job_migrated+3:crash",
    "sample_app.migration.before_commit+1:crash",
)


def migrate(home: Path, now: float) -> int:
    with db.connect(db.path_of(home, "app")) as conn:
        found = db.version_of(conn)
        if found == 1:
            # The mistake: from here on it counts as migrated.
            with db.transaction(conn):
                conn.execute("ALTER TABLE jobs ADD COLUMN currency TEXT")
                conn.execute("PRAGMA user_version = 2")
            sys.audit("sample_app.migration.altered", found)
            with db.transaction(conn):
                for row in conn.execute("SELECT * FROM jobs ORDER BY job_id").fetchall():
                    currency = currency_in(json.loads(row["payload"]))
                    conn.execute("UPDATE jobs SET currency = ? WHERE job_id = ?", (currency, row["job_id"]))
                    if currency is None:
                        generation = row["generation"]
                        move(conn, row["job_id"], "lacks_info", now, generation=generation)
                    sys.audit("sample_app.migration.job_migrated", row["job_id"])
                sys.audit("sample_app.migration.before_commit", found)
        sys.audit("sample_app.migration.committed", found)
    return found
