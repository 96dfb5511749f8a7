"""Editing a report: a new version, and no answer to the old one counts any more."""

from __future__ import annotations

import sys
from pathlib import Path

from . import approvals, db, reports
from .errors import Refused


def edit(home: Path, job_id: int, body: str, now: float) -> int:
    """Store a new version of a report; returns its number."""
    with db.app(home) as conn:
        with db.transaction(conn):
            report = reports.latest_in(conn, job_id)
            if report is None:
                raise Refused(f"job {job_id} has no report to edit")
            version: int = report["version"] + 1
            reports.insert_version(conn, job_id, version, body, now, "report.edited")
            approvals.supersede(conn, job_id, f"edited: version {version}", now)
            sys.audit("sample_app.report.before_edited", job_id)
        sys.audit("sample_app.report.edited", job_id)
    return version
