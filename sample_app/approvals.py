"""Approvals: a person allows one action on one version of one report, until some time.

Waiting holds no worker: the publish job is parked (`waiting_for`) and is released by the answer,
in the transaction of the answer. An answer is bound to the report's version and the action's
hash; editing the report makes it void. The hash says *what* was approved; *who* answered is
verified by that person's own token.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from . import db, events, intents, jobs, reports
from .actions import Action, publication
from .digests import canonical
from .errors import AppError, Refused
from .moves import move

TTL = 7 * 86400.0  # seconds for which a request, and its answer, are good


class NotApproved(AppError):
    """No valid answer allows this action. `void` = this version will never be published."""

    def __init__(self, why: str, *, void: bool) -> None:
        super().__init__(why)
        self.void = void


def set_person(home: Path, person: str, token: str, may_approve: bool) -> None:
    with db.app(home) as conn, db.transaction(conn):
        conn.execute(
            "INSERT INTO people VALUES (?, ?, ?) ON CONFLICT (person) DO UPDATE SET"
            " token_digest = excluded.token_digest, may_approve = excluded.may_approve",
            (person, _token_digest(token), may_approve),
        )


def request(home: Path, job_id: int, applicant: str, approver: str, now: float, ttl: float = TTL) -> str:
    """Ask for approval to publish the report of a job, and park the publish job on the answer.

    Asked again while the same request is open, it returns that one's id.
    """
    with db.app(home) as conn:
        with db.transaction(conn):
            job, report = jobs.get_in(conn, job_id), _latest_report(conn, job_id)
            if job["currency"] is None:
                raise Refused(f"job {job_id} lacks its currency; nobody can approve its amount")
            action = action_of(job, report)
            open_id = _open_request(conn, job_id, report["version"], action.hash(), approver, now)
            if open_id is not None:
                return open_id
            publish_id = _park(conn, job, report, now)
            request_id = _insert(conn, publish_id, report, action, applicant, approver, now, ttl)
            _wait_for(conn, publish_id, request_id)
            sys.audit("sample_app.approval.before_requested", request_id)
        sys.audit("sample_app.approval.requested", request_id)
    return request_id


def get(home: Path, request_id: str) -> sqlite3.Row:
    """A request, with the version and the hash that an answer has to name."""
    with db.app(home) as conn:
        return _get(conn, request_id)


def answer(
    home: Path,
    request_id: str,
    person: str,
    token: str,
    approve: bool,
    report_version: int,
    action_hash: str,
    now: float,
) -> str:
    """Store an answer and let the publish job go on (or end it). Returns the request's state."""
    verdict = "approved" if approve else "rejected"
    with db.app(home) as conn:
        with db.transaction(conn):
            row = _get(conn, request_id)
            _check_person(conn, row, person, token)
            if row["state"] == verdict:
                return verdict  # the reply to the first answer was lost
            _check_answerable(row, report_version, action_hash, now)
            _store_answer(conn, row, verdict, person, now)
            sys.audit("sample_app.approval.before_answered", request_id)
        sys.audit("sample_app.approval.answered", request_id)
    return verdict


def check(conn: sqlite3.Connection, publish_job_id: int, now: float) -> None:
    """Raise `NotApproved` unless the action may start now. Inside the transaction that starts it.

    Permission and expiry are judged as they are at this moment, not as they were at the answer.
    """
    row = conn.execute(
        "SELECT * FROM approvals JOIN people ON person = approver WHERE publish_job_id = ?"
        " ORDER BY approvals.rowid DESC LIMIT 1",
        (publish_job_id,),
    ).fetchone()
    if row is None:
        raise NotApproved("approval was never requested", void=False)
    if row["state"] != "approved":
        raise NotApproved(f"approval is {row['state']}", void=_is_outdated(conn, row))
    if now >= row["expires_at"]:
        raise NotApproved("approval has expired", void=False)
    if not row["may_approve"]:
        raise NotApproved(f"{row['approver']} may not approve any more", void=False)
    _check_content(conn, row)


def supersede(conn: sqlite3.Connection, job_id: int, why: str, now: float) -> None:
    """Make the answers to what has changed void, unless the approved action has begun already."""
    for row in conn.execute(
        "SELECT * FROM approvals WHERE job_id = ? AND state IN ('pending', 'approved')"
        " AND NOT EXISTS (SELECT 1 FROM intents WHERE job_id = publish_job_id"
        "                 AND state IN ('sent', 'unknown', 'confirmed'))",
        (job_id,),
    ).fetchall():
        _set_state(conn, row, "superseded", now)
        publish = jobs.get_in(conn, row["publish_job_id"])
        if publish["state"] == "running":
            continue  # it meets `check` before it can act
        if _is_outdated(conn, row):
            end(conn, publish, why, now)
        else:
            generation = publish["generation"]
            move(conn, publish["job_id"], "lacks_info", now, generation=generation, why=why)


def approved_action(home: Path, publish_job_id: int) -> dict[str, Any]:
    """The action of the request on which this job waits or waited."""
    with db.app(home) as conn:
        row = conn.execute(
            "SELECT action FROM approvals WHERE publish_job_id = ? ORDER BY rowid DESC LIMIT 1",
            (publish_job_id,),
        ).fetchone()
    action: dict[str, Any] = json.loads(row["action"])
    return action


def end(conn: sqlite3.Connection, publish: sqlite3.Row, why: str, now: float) -> None:
    """The publish job is over without having acted."""
    intents.give_up_prepared(conn, publish["job_id"], why, now)
    move(conn, publish["job_id"], "cancelled", now, generation=publish["generation"], why=why)


def stop_job(home: Path, job_id: int, generation: int, refusal: NotApproved, now: float) -> None:
    """A worker met a void or stale approval: nothing is done, and the job says what it lacks."""
    with db.app(home) as conn:
        with db.transaction(conn):
            row = jobs.get_in(conn, job_id)
            if not jobs.holds(conn, job_id, generation):
                return
            if refusal.void:
                end(conn, row, str(refusal), now)
            else:
                move(conn, job_id, "lacks_info", now, generation=generation, why=str(refusal))
            sys.audit("sample_app.approval.before_refused", job_id)
        sys.audit("sample_app.approval.refused", job_id)


def action_of(job: sqlite3.Row, report: sqlite3.Row) -> Action:
    payload = json.loads(job["payload"])
    key, version = job["task_key"], report["version"]
    return publication(key, version, payload, job["currency"], report["body"])


def _latest_report(conn: sqlite3.Connection, job_id: int) -> sqlite3.Row:
    report = reports.latest_in(conn, job_id)
    if report is None:
        raise Refused(f"job {job_id} has no report to publish")
    return report


def _is_outdated(conn: sqlite3.Connection, request: sqlite3.Row) -> bool:
    """Is there a newer version than the one that this request is about?"""
    newer: bool = _latest_report(conn, request["job_id"])["version"] > request["report_version"]
    return newer


def _open_request(
    conn: sqlite3.Connection,
    job_id: int,
    version: int,
    action_hash: str,
    approver: str,
    now: float,
) -> str | None:
    row = conn.execute(
        "SELECT request_id FROM approvals WHERE job_id = ? AND report_version = ? AND"
        " action_hash = ? AND approver = ? AND state IN ('pending', 'approved')"
        " AND expires_at > ?",
        (job_id, version, action_hash, approver, now),
    ).fetchone()
    return None if row is None else str(row["request_id"])


def _park(conn: sqlite3.Connection, job: sqlite3.Row, report: sqlite3.Row, now: float) -> int:
    """The publish job of this version: registered, or taken back from `needs_info`."""
    owner = json.loads(job["payload"])["owner"]
    version = report["version"]
    payload = {"page": job["task_key"], "version": version, "owner": owner}
    key = f"publish:{job['task_key']}:v{version}"
    saved = jobs.register_in(conn, key, payload, now, kind="publish")
    publish = jobs.get_in(conn, saved.job_id)
    if publish["state"] == "needs_info":
        move(conn, saved.job_id, "info_given", now, generation=publish["generation"])
    elif publish["state"] != "pending":
        raise Refused(f"publishing version {version} is {publish['state']}")
    return saved.job_id


def _insert(
    conn: sqlite3.Connection,
    publish_id: int,
    report: sqlite3.Row,
    action: Action,
    applicant: str,
    approver: str,
    now: float,
    ttl: float,
) -> str:
    job_id, version = report["job_id"], report["version"]
    earlier = conn.execute("SELECT count(*) FROM approvals WHERE job_id = ?", (job_id,))
    request_id = f"{action.object_id}:v{version}:{earlier.fetchone()[0] + 1}"
    conn.execute(
        "INSERT INTO approvals (request_id, job_id, publish_job_id, report_version, report_digest,"
        " action, action_hash, applicant, approver, state, requested_at, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
        (
            request_id,
            job_id,
            publish_id,
            version,
            report["digest"],
            canonical(action.as_json()),
            action.hash(),
            applicant,
            approver,
            now,
            now + ttl,
        ),
    )
    events.append(conn, job_id, "approval.requested", now, request=request_id, version=version)
    return request_id


def _wait_for(conn: sqlite3.Connection, publish_id: int, request_id: str) -> None:
    conn.execute("UPDATE jobs SET waiting_for = ? WHERE job_id = ?", (request_id, publish_id))


def _get(conn: sqlite3.Connection, request_id: str) -> sqlite3.Row:
    row: sqlite3.Row | None = conn.execute("SELECT * FROM approvals WHERE request_id = ?", (request_id,)).fetchone()
    if row is None:
        raise Refused(f"there is no approval request {request_id!r}")
    return row


def _check_person(conn: sqlite3.Connection, row: sqlite3.Row, person: str, token: str) -> None:
    known = conn.execute("SELECT * FROM people WHERE person = ?", (person,)).fetchone()
    verified = known and hmac.compare_digest(known["token_digest"], _token_digest(token))
    if not verified or person != row["approver"] or not known["may_approve"]:
        raise Refused(f"{person!r} may not answer {row['request_id']!r}")


def _check_answerable(row: sqlite3.Row, version: int, action_hash: str, now: float) -> None:
    if row["state"] != "pending":
        raise Refused(f"request {row['request_id']!r} is {row['state']}")
    if now >= row["expires_at"]:
        raise Refused(f"request {row['request_id']!r} has expired")
    if (version, action_hash) != (row["report_version"], row["action_hash"]):
        raise Refused("the answer is for another version or another action")


def _store_answer(conn: sqlite3.Connection, row: sqlite3.Row, verdict: str, person: str, now: float) -> None:
    _set_state(conn, row, verdict, now)
    conn.execute(
        "UPDATE approvals SET answered_at = ?, answered_by = ? WHERE request_id = ?",
        (now, person, row["request_id"]),
    )
    conn.execute(
        "UPDATE jobs SET waiting_for = NULL WHERE job_id = ? AND waiting_for = ?",
        (row["publish_job_id"], row["request_id"]),
    )
    if verdict == "rejected":
        end(conn, jobs.get_in(conn, row["publish_job_id"]), "rejected", now)


def _set_state(conn: sqlite3.Connection, row: sqlite3.Row, state: str, now: float) -> None:
    conn.execute("UPDATE approvals SET state = ? WHERE request_id = ?", (state, row["request_id"]))
    events.append(conn, row["job_id"], f"approval.{state}", now, request=row["request_id"])


def _check_content(conn: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Compare what was approved with what would be done."""
    report = _latest_report(conn, row["job_id"])
    same = (report["version"], report["digest"]) == (row["report_version"], row["report_digest"])
    action = action_of(jobs.get_in(conn, row["job_id"]), report)
    if not same or action.hash() != row["action_hash"]:
        raise NotApproved("the report or the action has changed since", void=True)


def _token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
