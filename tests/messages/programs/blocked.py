"""A life that is paused while it holds a lock, at which others wait in vain."""

# $ pytest blocked.py

import fcntl
import sqlite3
import sys
from contextlib import closing

import pytest


@pytest.fixture
def path(tmp_path):
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as db:
        db.executescript("CREATE TABLE job (n); INSERT INTO job VALUES (0);")
    return tmp_path / "jobs.db"


def work(path):
    with closing(sqlite3.connect(path, timeout=0.1)) as db:
        db.execute("UPDATE job SET n = n + 1")
        sys.audit("job.updated")
        db.commit()


@pytest.mark.crash_windows(pause="job.updated")
def test_another_life(crashwindow, path):
    crashwindow.run(work, path, name="first")
    _ = crashwindow.run(work, path, name="second").value


@pytest.mark.crash_windows(pause="job.updated")
def test_the_test_body(crashwindow, path):
    crashwindow.run(work, path, name="first")
    work(path)


def lock(path):
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sys.audit("file.locked")


@pytest.mark.crash_windows(pause="file.locked")
def test_a_lock_file(crashwindow, tmp_path):
    crashwindow.run(lock, tmp_path / "lock", name="first")
    _ = crashwindow.run(lock, tmp_path / "lock", name="second").value
