"""The command line as real processes, and a ticket service that dies."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_crashwindow import CrashWindow
from sample_app import demo, jobs, worker
from sample_app.demo import PAYLOAD
from sample_app.ticket_desk import ledger

from .office import Service

ROOT = Path(__file__).parents[2]


def app(*argv: object, code: int = 0) -> str:
    command = [sys.executable, "-m", "sample_app", *map(str, argv)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, "") or code
    return done.stdout + done.stderr


@contextlib.contextmanager
def ticket_service(home: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "sample_app", "serve-tickets", str(home)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_the_whole_story_by_commands(tmp_path: Path) -> None:
    home = tmp_path / "home"
    app("init", home)
    with ticket_service(home) as url:
        app("configure", home, "--tickets", url)
        assert app("submit", home, json.dumps(PAYLOAD)).split() == ["1", "pending", "new"]
        app("work", home)
        assert "1200.50 EUR" in app("submit", home, json.dumps(PAYLOAD))
        app("person", home, "bo", "secret")
        request, _, version, action_hash = app("request", home, 1, "ada", "bo").split()
        named = ["--version", version.partition("=")[2], "--action-hash", action_hash]
        assert "may not answer" in app("answer", home, request, "bo", "guess", *named, code=1)
        assert app("answer", home, request, "bo", "secret", *named).split()[1] == "approved"
        app("work", home)
    status = app("status", home)
    assert "jobs: 2 done" in status
    assert "undelivered events: 0" in status
    assert "what the events say" in app("check", home)
    assert "2 jobs" in app("backup", home, tmp_path / "copy.db")
    assert "not uncertain" in app("resolve", home, 2, "happened", "--ticket", 1, "--evidence", "ledger", code=1)
    assert "done; it cannot be cancelled" in app("cancel", home, 2, code=1)
    assert "too short" in app("purge", home, "--older-than", 1, code=1)
    assert len(ledger(home)) == 1


def test_the_demo_tells_what_is_in_the_databases(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-m", "sample_app", "demo"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines() == DEMO.strip("\n").splitlines()
    assert list(tmp_path.iterdir()) == []


DEMO = """
Leases and generations: (state, generation)
  t=0           registered ('pending', 0)
  t=0           A claims it and is killed ('running', 1)
  t=10          B asks for a job and gets None
  t=30          B claims generation 2 ('running', 2)
  t=30          A finishes generation 1: False
  t=30          B finishes generation 2: True
  t=30          C asks for a job and gets None ('done', 2)
  t=30          the report is B's report

Commit and delivery: done jobs, reports, events, delivered | inbox
  0 0 0 0 | 0   killed before COMMIT
  1 1 1 0 | 0   killed after COMMIT, before the answer
  1 1 1 0 | 0   the caller tries again: already_committed
  1 1 1 0 | 0   the same key with another input: conflict
  1 1 1 0 | 1   killed after the receiver committed
  1 1 1 0 | 1   the same event again: duplicate
  1 1 1 1 | 1   dispatched
"""


@pytest.mark.parametrize("mode", ["keys", "search", "none"])
@pytest.mark.parametrize(
    ("point", "tickets"),
    [
        ("sample_app.ticket.received", 0),
        ("sample_app.ticket.before_stored", 0),
        ("sample_app.ticket.stored", 1),
    ],
)
def test_the_service_dies_and_is_started_again(
    crashwindow: CrashWindow, home: Path, publishable: int, mode: str, point: str, tickets: int
) -> None:
    service = Service(crashwindow, home, mode).start(crash_at=point)
    tools = worker.Tools(service.client())
    worker.work_once(home, "A", crashwindow.clock, tools)
    assert service.life
    assert service.life.wait().crashed
    assert jobs.get(home, publishable)["state"] == "uncertain"
    assert len(ledger(home)) == tickets
    service.start()
    worker.run_until_idle(home, "A", crashwindow.clock, tools=tools)
    settled = mode == "keys" or (mode == "search" and tickets)
    assert jobs.get(home, publishable)["state"] == ("done" if settled else "uncertain")
    assert len(ledger(home)) == (1 if settled else tickets)


def test_demo_is_importable_without_playing() -> None:
    assert callable(demo.main)
