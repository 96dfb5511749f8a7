"""Report files: one that can't be written, one that was broken off, and one of nothing."""

# $ pytest reports.py --crashwindow-report=report.html -k taken
# $ pytest reports.py --crashwindow-report=report.md -x -k 'hole or whole'
# $ cat report.md
# $ pytest reports.py --crashwindow-report=report.md -k whole
# $ cat report.md
# $ pytest reports.py --crashwindow-report=report.md -k known
# $ cat report.md
# $ pytest reports.py --crashwindow-report=report.md -k nothing; cat report.md
# $ pytest reports.py --crashwindow-report=report.md -k "dead or whole"; cat report.md
# $ pytest 'reports.py::test_whole[job.begun+1:crash]' --crashwindow-report=report.md; cat report.md
# $ pytest reports.py --crashwindow-report=report.md --crashwindow-report=report.json -k enough; cat report.md
# $ head -2 report.json

import sys
from pathlib import Path

import pytest


def job():
    sys.audit("job.begun")
    sys.audit("job.done")


@pytest.mark.crash_windows("job.*")
def test_hole(crashwindow):
    assert not crashwindow.run(job).crashed


@pytest.mark.crash_windows("job.done", pause="job.paid")
def test_whole(crashwindow):
    crashwindow.supervise(job)


@pytest.mark.xfail
@pytest.mark.crash_windows("job.*")
def test_known(crashwindow):
    assert not crashwindow.run(job).crashed


@pytest.mark.crash_windows("job.*")
def test_enough(crashwindow):
    crashwindow.run(job)
    if "done" in str(crashwindow.window):
        pytest.exit("enough")


@pytest.mark.crash_windows("job.*")
def test_dead(crashwindow):
    assert crashwindow.run(job).crashed


@pytest.mark.xfail
@pytest.mark.crash_windows("job.*")
def test_dead_as_expected(crashwindow):
    assert crashwindow.run(job).crashed


def test_nothing():
    pass


def test_taken():
    Path("report.html").mkdir()


def paid():
    sys.audit("job.paid")
