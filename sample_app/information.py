"""What a job in `needs_info` lacked, told by a person."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from . import db, jobs
from .errors import BadPayload, Refused
from .moves import move


def tell_currency(home: Path, job_id: int, currency: str, now: float) -> str:
    """Fill in the currency; an unfinished job goes on. Returns its state."""
    if not re.fullmatch("[A-Z]{3}", currency):
        raise BadPayload(f"not a currency: {currency!r}")
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            if row["currency"] not in (None, currency):
                raise Refused(f"job {job_id} is in {row['currency']} already")
            conn.execute("UPDATE jobs SET currency = ? WHERE job_id = ?", (currency, job_id))
            move(conn, job_id, "info_given", now, generation=row["generation"], currency=currency)
            sys.audit("sample_app.information.before_commit", job_id)
        sys.audit("sample_app.information.committed", job_id)
        return str(jobs.get_in(conn, job_id)["state"])
