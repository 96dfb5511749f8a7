"""Lives and test bodies that don't come to an end."""

# $ pytest hung.py --crashwindow-life-timeout=3 -k life
# $ pytest hung.py -k body

import signal
import sys

import pytest


def waiting():
    sys.audit("work.begun")
    signal.pause()


def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    signal.pause()


def test_life(crashwindow):
    crashwindow.run(waiting)


def test_life_that_tells_nothing(crashwindow):
    crashwindow.run(deaf)


@pytest.mark.pause_at("work.begun", scope="thread")
def test_life_with_a_held_thread(crashwindow):
    crashwindow.run(waiting).wait()


@pytest.mark.timeout(3)
def test_body(crashwindow):
    crashwindow.start(deaf, name="worker")
    crashwindow.run(waiting, pause_at="work.begun")
    while True:
        signal.pause()
