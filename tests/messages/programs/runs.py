"""Runs that don't try everything, and what a run says of its sweeps."""

# $ pytest runs.py -k 'not known'
# $ pytest runs.py -v -k test_job
# $ pytest runs.py --crashwindow-list -k test_job
# $ pytest runs.py --collect-only -k 'test_job or test_part'
# $ pytest runs.py --crashwindow-off -k test_job
# $ pytest runs.py --crashwindow-max-windows=2 --crashwindow-seed=7 -k test_job
# $ pytest runs.py --crashwindow-max-windows=4 --crashwindow-depth=2 -k test_job
# $ pytest runs.py --crashwindow-window=job.done+1:crash -k test_job
# $ pytest runs.py -k 'test_job and done'
# $ pytest runs.py -x -k test_hole
# $ pytest runs.py -k 'known or skipped' -rsxX
# $ pytest 'runs.py::test_hole[job.begun+1:crush]'
# $ pytest 'runs.py::test_hole[job.gone+1:crash]'

import sys

import pytest

sweep = pytest.mark.crash_windows


def job():
    sys.audit("job.begun")
    sys.audit("job.done")


@sweep("job.*", pause="job.done")
def test_job(crashwindow):
    crashwindow.supervise(job)


@sweep("job.done")
def test_part(crashwindow):
    crashwindow.supervise(job)


@sweep("job.*")
def test_hole(crashwindow):
    assert not crashwindow.run(job).crashed


@pytest.mark.xfail(reason="known")
@sweep("job.*")
def test_known_hole(crashwindow):
    assert not crashwindow.run(job).crashed


@pytest.mark.xfail(reason="known", strict=True)
@sweep("job.*")
def test_known_hole_that_is_closed(crashwindow):
    crashwindow.supervise(job)


@sweep("job.*")
def test_skipped_windows(crashwindow):
    if crashwindow.run(job).crashed:
        pytest.skip("not on this machine")
