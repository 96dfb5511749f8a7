"""Markers whose fault doesn't fire."""

import sys

import pytest


def pay(order, times=1):
    for _ in range(times):
        sys.audit("shop.paid", order)


def refund():
    sys.audit("shop.refunded")


@pytest.mark.crash_at("shop.refunded")
def test_point_that_no_life_passes(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.crash_at("shop.refunded")
def test_no_life(crashwindow):
    pay("o-1")


@pytest.mark.crash_at("shop.piad")
def test_misspelt_point(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.crash_at("elsewhere")
def test_unknown_point(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.crash_at("shop.paid", nth=3)
def test_not_often_enough(crashwindow):
    crashwindow.run(pay, "o-1", times=2)


@pytest.mark.crash_at("shop.paid+2")
def test_hit_that_is_not_passed(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.pause_at("shop.paid", match="order-7*")
def test_no_such_argument(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.duplicate_at("shop.paid")
def test_duplicate_of_what_is_no_call(crashwindow):
    crashwindow.run(pay, "o-1")


def test_fault_of_one_life(crashwindow):
    crashwindow.run(pay, "o-1", name="first", crash_at=("shop.paid", 2))


def many():
    for n in range(15):
        sys.audit(f"work.{n}")


@pytest.mark.crash_at("shop.refunded")
def test_many_points(crashwindow):
    crashwindow.run(many)


@pytest.mark.crash_at("shop.refunded")
@pytest.mark.pause_at("shop.paid", nth=2)
def test_two_faults(crashwindow):
    crashwindow.run(pay, "o-1")


@pytest.mark.crash_at("shop.paid")
def test_a_life_without_points(crashwindow):
    assert crashwindow.run(len, "abc").value == 3
