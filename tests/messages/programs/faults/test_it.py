"""What happened, in words: each fault, at each kind of point, once and again."""

# $ pytest
# $ pytest --markers | grep flood

import sys

import pytest


def send(order):
    return f"sent {order}"


def work():
    for order in ("o-1", "o-2"):
        sys.audit("work.begun", order)
        send(order)


def fails(crashwindow):
    crashwindow.run(work).resume()
    assert not crashwindow.lives[0].hits


SEND = "test_it:send"


@pytest.mark.crash_at("work.begun")
def test_crash(crashwindow):
    fails(crashwindow)


@pytest.mark.crash_at(f"{SEND}:enter")
def test_crash_at_the_entry(crashwindow):
    fails(crashwindow)


@pytest.mark.lost_ack_at(SEND, nth=2)
def test_lost_answer(crashwindow):
    fails(crashwindow)


@pytest.mark.error_at(SEND, ConnectionError)
def test_error(crashwindow):
    fails(crashwindow)


@pytest.mark.pause_at(f"{SEND}:exit")
def test_pause(crashwindow):
    fails(crashwindow)


@pytest.mark.duplicate_at(SEND)
def test_duplicate(crashwindow):
    fails(crashwindow)


@pytest.mark.delay_at(SEND, seconds=0)
def test_delay(crashwindow):
    fails(crashwindow)


@pytest.mark.flood_at("work.begun")
@pytest.mark.crash_at(f"{SEND}:exit", nth=2)
def test_fault_of_a_plugin_and_then_a_crash(crashwindow):
    fails(crashwindow)


def test_what_a_test_tells(crashwindow, tmp_path):
    crashwindow.observe("orders", [("o-1", "paid"), ("o-2", None)])
    crashwindow.effects.record("mail", "o-1")
    crashwindow.run(print, f"wrote {tmp_path}/outbox")
    pytest.fail("to see it", pytrace=False)
