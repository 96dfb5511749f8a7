"""The marker of sweeps, with arguments that can't be used."""

import pytest

sweep = pytest.mark.crash_windows


@sweep("shop.*", "jobs.*")
def test_two_positional(crashwindow):
    pass


@sweep("shop.*", points="jobs.*")
def test_points_twice(crashwindow):
    pass


@sweep("shop.*", crash="jobs.*")
def test_points_and_crash(crashwindow):
    pass


@sweep("shop.*")
@sweep(pause="jobs.*")
def test_two_sweeps(crashwindow):
    pass


@sweep(crush="shop.*")
def test_unknown_argument_with_a_near_one(crashwindow):
    pass


@sweep(limit=3)
def test_unknown_argument(crashwindow):
    pass


@sweep(depth=0)
def test_depth_from_one(crashwindow):
    pass


@sweep(crash=3)
def test_glob_is_a_number(crashwindow):
    pass


@sweep(pause={"shop.*": 1})
def test_mapping_for_a_pause(crashwindow):
    pass


@sweep(error={"*": OSError, "!shop.poll": OSError})
def test_exclusion_in_a_mapping(crashwindow):
    pass


@sweep(delay="shop.*")
def test_delay_without_seconds(crashwindow):
    pass


@sweep(delay={"shop.*": "long"})
def test_delay_is_no_number(crashwindow):
    pass


@sweep(lost_ack={"shop.mail:send:enter": TimeoutError})
def test_answer_lost_at_an_entry(crashwindow):
    pass


@sweep
def test_without_the_fixture():
    pass
