"""A life that is paused inside a write transaction blocks everybody: the failure says who, where, and what."""

from __future__ import annotations

import sys

import pytest

from .conftest import Run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who holds a lock")

JOBS = """
import contextlib, fcntl, sqlite3, sys, pytest

def work(path, timeout=0.1):
    with contextlib.closing(sqlite3.connect(path, timeout=timeout)) as db:
        db.execute("UPDATE job SET n = n + 1")
        sys.audit("job.updated")
        db.commit()
        sys.audit("job.committed")

def make(path, mode):
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.executescript("CREATE TABLE job (n); INSERT INTO job VALUES (0)")
    return path

def flocked(path):
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        sys.audit("file.locked")
"""
SWEEP = """
@pytest.mark.crash_windows(pause="job.*")
def test_work(crashwindow, tmp_path):
    path = make(tmp_path / "jobs.db", "MODE")
    first = crashwindow.run(work, path, name="first")
    second = crashwindow.run(work, path, name="second")
    first.resume()
    _ = second.resume().value
"""
OF_BODY = SWEEP.replace("    _ = second.resume().value\n", "").replace("MODE", "DELETE")
BLAMED = "life 'second' waited in vain for life 'first', which is paused at job.updated+1 and holds the write lock of *"


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_a_life_that_finds_the_database_locked(run: Run, mode: str) -> None:
    result = run(JOBS + SWEEP.replace("MODE", mode))
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*OperationalError: database is locked*",
            "failed: life 'first' was paused right at job.updated",
            BLAMED + "jobs.db.",
            "  A process that stalls there blocks all others*",
            "*second*!! waits for life 'first', which is paused at job.updated+1 and holds the write lock of *jobs.db",
        ]
    )


WRAPPED = """
def work_in_orm(path):
    try:
        work(path)
    except sqlite3.OperationalError as error:
        raise RuntimeError(f"(sqlite3.OperationalError) {error}\\n[SQL: UPDATE]\\n(Background: x)") from None
"""


def test_the_error_may_be_in_any_line_of_a_long_message(run: Run) -> None:
    sweep = SWEEP.replace("MODE", "DELETE").replace("(work,", "(work_in_orm,")
    result = run(JOBS + WRAPPED + sweep)
    result.stdout.fnmatch_lines(
        [
            "*second*!! waits for life 'first', *",
            "*second*raised RuntimeError: (sqlite3.OperationalError) database is locked",
        ]
    )


def test_a_life_that_waits_until_its_time_is_over(run: Run) -> None:
    source = SWEEP.replace("MODE", "DELETE").replace("work, path,", "work, path, 60,")
    result = run(JOBS + source, "--crashwindow-life-timeout=1")
    result.assert_outcomes(passed=3, failed=2)
    result.stdout.fnmatch_lines(["hung: life 'first' was paused right at job.updated", BLAMED])


def test_a_test_body_that_finds_the_database_locked(run: Run) -> None:
    source = OF_BODY.replace('crashwindow.run(work, path, name="second")', "work(path)")
    result = run(JOBS + source)
    result.stdout.fnmatch_lines(
        ["the test body waited in vain for life 'first', which is paused at job.updated+1 and holds the write lock *"]
    )


def test_a_test_body_that_hangs(run: Run) -> None:
    source = OF_BODY.replace('crashwindow.run(work, path, name="second")', "work(path, 60)")
    result = run(JOBS + source, "--timeout=2")
    result.stdout.fnmatch_lines(["the test body waited in vain for life 'first', which is paused at job.updated+1 *"])


def test_a_lock_file(run: Run) -> None:
    result = run(
        JOBS
        + """
@pytest.mark.crash_windows(pause="file.*")
def test_work(crashwindow, tmp_path):
    crashwindow.run(flocked, tmp_path / "lock", name="first")
    assert crashwindow.run(flocked, tmp_path / "lock", name="second").error is None
"""
    )
    result.stdout.fnmatch_lines(
        ["life 'second' waited in vain for life 'first', which is paused at file.locked+1 and holds a lock on */lock."]
    )


def test_a_pause_that_blocks_nobody_says_nothing(run: Run) -> None:
    result = run(JOBS + SWEEP.replace("MODE", "DELETE") + "    assert not first.window\n")
    assert "waited in vain for life 'first', which is paused at job.committed" not in result.stdout.str()
