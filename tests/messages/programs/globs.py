"""Globs of sweeps, and points that hold threads, that match nothing."""

import sys

import pytest


def place():
    sys.audit("shop.placed")


def send():
    sys.audit("shop.sent")


@pytest.mark.crash_windows(crash=["shop.*", "shpo.*"], pause="shpo.*")
def test_globs_that_match_nothing(crashwindow):
    crashwindow.supervise(place)


@pytest.mark.crash_windows("shop.*", duplicate="shop.placed")
def test_duplicate_of_an_event(crashwindow):
    crashwindow.supervise(place)


@pytest.mark.crash_windows(duplicate="shop.placed")
def test_nothing_but_that(crashwindow):
    crashwindow.supervise(place)


@pytest.mark.pause_at("shop.placed", scope="thread", hold=["shop.snet"])
def test_hold(crashwindow):
    crashwindow.run(place).resume()
