"""Markers that arm one fault, with arguments that can't be used."""

import pytest

at = pytest.mark


@at.crash_at()
def test_no_point(crashwindow):
    pass


@at.error_at("shop.paid")
def test_no_error(crashwindow):
    pass


@at.crash_at(7)
def test_point_is_no_text(crashwindow):
    pass


@at.crash_at("shop.paid", 2, "order-7*")
def test_too_many_positional(crashwindow):
    pass


@at.crash_at("shop.paid", point="shop.paid")
def test_point_twice(crashwindow):
    pass


@at.crash_at("shop.paid", nht=2)
def test_unknown_argument(crashwindow):
    pass


@at.crash_at("shop.paid", nth=0)
def test_nth_from_zero(crashwindow):
    pass


@at.crash_at("shop.paid", nth=None)
def test_every_hit_of_a_crash(crashwindow):
    pass


@at.crash_at("shop.paid+2", nth=3)
def test_hit_named_twice(crashwindow):
    pass


@at.crash_at("shop.paid", match=7)
def test_match_is_no_text(crashwindow):
    pass


@at.duplicate_at("shop.mail:send:exit")
def test_duplicate_at_an_exit(crashwindow):
    pass


@at.lost_ack_at("shop.mail:send:enter")
def test_answer_lost_at_an_entry(crashwindow):
    pass


@at.delay_at("shop.paid", seconds=-1)
def test_delay_is_negative(crashwindow):
    pass


@at.pause_at("shop.paid", scope="process")
def test_scope_is_unknown(crashwindow):
    pass


@at.pause_at("shop.paid", hold=["shop.sent"])
def test_hold_without_threads(crashwindow):
    pass


@at.error_at("shop.paid", "TimeoutError")
def test_exception_without_its_module(crashwindow):
    pass


@at.error_at("shop.paid", 404)
def test_exception_is_a_number(crashwindow):
    pass


@at.crash_at("shop.paid")
def test_without_the_fixture():
    pass


@at.crashwindow_calls(7)
def test_call_is_no_text(crashwindow):
    pass
