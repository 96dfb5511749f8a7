"""Without any one of its safeguards the app fails in a sweep: each line is needed, and each sweep sees something.

The app is copied, one safeguard is taken out of the copy, and a sweep is run on it by a pytest of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INI = "[pytest]\naddopts = --import-mode=importlib\nfilterwarnings = error\n"


@dataclass(frozen=True)
class Safeguard:
    """Code that is replaced by code that lacks it, the sweep that notices, and a window in which it does."""

    name: str
    file: str
    code: str
    without: str
    sweep: str
    window: str

    def take_out(self, package: Path) -> None:
        path = package / self.file
        text = path.read_text(encoding="utf-8")
        assert text.count(self.code) == 1, f"{self.file} says {self.code!r} {text.count(self.code)} times"
        path.write_text(text.replace(self.code, self.without), encoding="utf-8")


SAFEGUARDS = [
    Safeguard(
        "generation check",
        "jobs.py",
        'row["generation"] == generation and row["state"] == "running"',
        'row["state"] == "running"',
        "test_sweep_of_a_reporter_that_wakes_while_the_next_is_at_work",
        "sample_app.job.claimed+1:pause",
    ),
    Safeguard(
        "inbox insert",
        "receiver.py",
        """    conn.execute(
        "INSERT INTO inbox VALUES (?, ?, ?, ?)",
        (event_id, digest(payload), canonical(notification_id), now),
    )
""",
        "",
        "test_sweep_of_two_deaths_from_the_request_to_the_first_notice",
        "sample_app.receiver.committed+1:crash",
    ),
    Safeguard(
        "intent commit",
        "intents.py",
        '''            set_state(conn, row, "sent", now, sent_at=now)
            sys.audit("sample_app.intent.before_sent"''',
        '''            sys.audit("sample_app.intent.before_sent"''',
        "test_sweep_of_two_deaths_around_a_service_that_knows_less[none]",
        "sample_app.ticket.stored+1:crash",
    ),
    Safeguard(
        "approval hash",
        "approvals.py",
        'if not same or action.hash() != row["action_hash"]:',
        "if not same:",
        "test_sweep_of_a_change_after_the_approval[correct_currency]",
        "sample_app.job.claimed+1:crash",
    ),
    Safeguard(
        "fencing compare",
        "pages.py",
        ' written_at = excluded.written_at WHERE excluded.generation >= generation"',
        ' written_at = excluded.written_at"',
        "test_sweep_of_a_publisher_that_wakes_when_the_next_has_written",
        "sample_app.publication.checked+1:pause",
    ),
    Safeguard(
        "BEGIN IMMEDIATE",
        "db.py",
        'conn.execute("BEGIN IMMEDIATE")',
        'conn.execute("BEGIN")',
        "test_sweep_of_a_second_writer_between_any_read_and_its_write",
        "sample_app.jobs:get_in:exit+1:pause",
    ),
    Safeguard(
        "outbox in the transaction",
        "reports.py",
        """            sys.audit("sample_app.outbox.before_commit", job_id)
        sys.audit("sample_app.job.committed", job_id)
""",
        """            sys.audit("sample_app.outbox.before_commit", job_id)
            job = jobs.get_in(conn, job_id)
            conn.execute("DELETE FROM outbox WHERE job_id = ?", (job_id,))
        sys.audit("sample_app.job.committed", job_id)
        with db.transaction(conn):
            outbox.add(conn, job_id, f"report.ready:{job['task_key']}", outbox.notice(job, body), now)
""",
        "test_sweep_of_two_deaths_from_the_request_to_the_first_notice",
        "sample_app.job.committed+1:crash",
    ),
    Safeguard(
        "stop intent",
        "jobs.py",
        'return bool(held and row["stop_requested_at"] is None)',
        "return bool(held)",
        "test_sweep_of_a_stop_intent_whose_author_died_right_after_it",
        "sample_app.job.claimed+1:pause",
    ),
]


@pytest.mark.parametrize("safeguard", SAFEGUARDS, ids=lambda safeguard: safeguard.name.replace(" ", "-"))
def test_it_takes_every_safeguard(tmp_path: Path, safeguard: Safeguard) -> None:
    shutil.copytree(ROOT / "sample_app", tmp_path / "sample_app", ignore=shutil.ignore_patterns("__pycache__"))
    tests = tmp_path / "tests" / "sample_app"
    tests.mkdir(parents=True)
    for path in Path(__file__).parent.glob("*.py"):
        if path.name in ("conftest.py", "office.py") or path.name.startswith("test_sweep_"):
            shutil.copy(path, tests)
    (tmp_path / "pytest.ini").write_text(INI)
    safeguard.take_out(tmp_path / "sample_app")
    [file] = [path for path in tests.glob("test_sweep_*.py") if safeguard.sweep.partition("[")[0] in path.read_text()]
    options = ["-q", "--tb=short", "-p", "no:asyncio", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider"]
    node = f"{file.relative_to(tmp_path)}::{safeguard.sweep}"
    command = [sys.executable, "-m", "pytest", *options, node, f"--basetemp={tmp_path / 'tmp'}"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    failed = re.findall(r"^FAILED \S+\[(?:\w+-)?(sample_app\.\S+:\w+)\]", ended.stdout, re.MULTILINE)
    assert ended.returncode == 1, f"it survives without the {safeguard.name}:\n{ended.stdout}{ended.stderr}"
    assert safeguard.window in failed, ended.stdout
