"""Markers that arm a fault: what they take, what they refuse, and what is said if nothing fired."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_crashwindow.errors import BadOption

from .conftest import Run


def orders(*keys: str) -> str:
    for key in keys:
        sys.audit("shop.order", key)
    return "done"


# -- which hit -----------------------------------------------------------------------------------


@pytest.mark.crash_at("shop.order", nth=2)
def test_nth_counts_hits_over_all_lives(crashwindow: Any) -> None:
    assert crashwindow.run(orders, "a").value == "done"
    assert crashwindow.run(orders, "b").crashed


@pytest.mark.crash_at("shop.order", 2)
def test_nth_may_be_positional(crashwindow: Any) -> None:
    assert crashwindow.run(orders, "a", "b", "c").hits == ["shop.order+1", "shop.order+2"]


@pytest.mark.crash_at("shop.order+2")
def test_the_point_may_carry_its_hit(crashwindow: Any) -> None:
    assert crashwindow.run(orders, "a", "b", "c").hits == ["shop.order+1", "shop.order+2"]


@pytest.mark.crash_at("shop.order", match="order-7*")
def test_match_waits_for_an_argument(crashwindow: Any) -> None:
    life = crashwindow.run(orders, "order-1", "order-70", "order-2")
    assert life.crashed
    assert life.hits == ["shop.order+1", "shop.order+2"]


@pytest.mark.crash_at("shop.order", nth=2, match="7*")
def test_nth_counts_hits_that_match(crashwindow: Any) -> None:
    assert crashwindow.run(orders, "70", "1", "71", "72").hits == [f"shop.order+{n}" for n in (1, 2, 3)]


@pytest.mark.crash_at("shop.*")
def test_the_point_may_be_a_glob(crashwindow: Any) -> None:
    assert str(crashwindow.run(orders, "a").window) == "shop.order+1:crash"


# -- several faults ------------------------------------------------------------------------------


@pytest.mark.crash_at("shop.order", match="b")
@pytest.mark.error_at("shop.order", OSError, match="a")
@pytest.mark.pause_at("shop.order", match="c")
def test_markers_can_be_stacked_and_each_fires_in_the_first_life_that_reaches_it(crashwindow: Any) -> None:
    assert crashwindow.run(orders, "a").outcome == "raised"
    assert crashwindow.run(orders, "a", "b").crashed
    assert crashwindow.run(orders, "c").resume().value == "done"


def test_markers_of_class_module_and_parameters_count(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        pytestmark = pytest.mark.crash_at("shop.module")

        @pytest.mark.crash_at("shop.class")
        class TestIt:
            @pytest.mark.parametrize("name", [
                pytest.param("a", marks=pytest.mark.crash_at("shop.a")),
                pytest.param("b", marks=pytest.mark.crash_at("shop.b")),
            ])
            def test_three(self, crashwindow, name):
                for point in ("shop.module", "shop.class", f"shop.{name}"):
                    assert crashwindow.run(sys.audit, point).crashed

        def audits():
            sys.audit("shop.module"); sys.audit("shop.class"); sys.audit("shop.a"); sys.audit("shop.b")
        """
    )
    result.assert_outcomes(passed=2)


def test_keywords_arm_a_fault_for_one_life(crashwindow: Any) -> None:
    background = crashwindow.start(orders, "a", pause_at="shop.order")
    assert crashwindow.run(orders, "a").value == "done"
    assert background.wait_paused().resume().value == "done"
    assert crashwindow.run(orders, "x", "y", crash_at=("shop.order", 2)).crashed
    assert crashwindow.run(orders, "x", error_at={"point": "shop.order", "error": KeyError, "match": "x"}).error


def test_a_keyword_that_is_wrong_is_an_error_at_the_call(crashwindow: Any) -> None:
    with pytest.raises(BadOption, match="crash_at: nth counts from 1, got 0"):
        crashwindow.run(orders, "a", crash_at=("shop.order", 0))


def test_a_keyword_that_never_fired_fails_the_test(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        def test_it(crashwindow):
            crashwindow.run(sys.audit, "shop.a", crash_at="shop.b")

        def never(): sys.audit("shop.b")
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["crash_at('shop.b') for life 'audit' never fired: no life passed the point."])


# -- never fired ---------------------------------------------------------------------------------


def test_a_marker_that_never_fired_fails_and_lists_what_was_passed(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        def shop():
            sys.audit("shop.begun")
            for n in range(3):
                sys.audit("shop.order", n)

        def never():
            sys.audit("shop.paid")

        @pytest.mark.crash_at("shop.paid")
        def test_not_passed(crashwindow):
            crashwindow.run(shop)

        @pytest.mark.crash_at("shop.order", nth=4)
        def test_not_often_enough(crashwindow):
            crashwindow.run(shop)

        @pytest.mark.crash_at("shop.order", match="7*")
        def test_never_such_an_argument(crashwindow):
            crashwindow.run(shop)

        @pytest.mark.crash_at("shop.order")
        def test_no_life(crashwindow):
            shop()
        """
    )
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*___ test_not_passed ___*",
            "crash_at('shop.paid') never fired: no life passed the point.",
            "The lives of this test passed:",
            "  shop.begun",
            "  shop.order (3 times)",
            "*___ test_not_often_enough ___*",
            "crash_at('shop.order', nth=4) never fired: the point was passed 3 times.",
            "*___ test_never_such_an_argument ___*",
            "crash_at('shop.order', match='7[*]') never fired: the point was passed 3 times, never with such*",
            "*___ test_no_life ___*",
            "crash_at('shop.order') never fired.",
            "It started no life: run the code under test by crashwindow.run, start or supervise; only there do *",
        ]
    )


def test_a_failing_body_keeps_its_own_failure(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_at("shop.paid")
        def test_it(crashwindow):
            assert 1 == 2

        def never():
            sys.audit("shop.paid")
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E * assert 1 == 2"])


def test_a_skip_in_the_body_skips(run: Run) -> None:
    result = run(
        """
        import pytest

        @pytest.mark.crash_at("shop.paid")
        def test_it(crashwindow):
            pytest.skip("no shop")
        """
    )
    result.assert_outcomes(skipped=1)


def test_an_unknown_point_is_an_error_with_near_names(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(shop="import sys\ndef pay():\n    sys.audit('shop.order.paid')\n")
    result = run(
        """
        import pytest, shop

        @pytest.mark.crash_at("shop.order.payed")
        def test_misspelled(crashwindow):
            crashwindow.run(shop.pay)

        @pytest.mark.crash_at("shop.order.payed")
        def test_misspelled_and_failing(crashwindow):
            assert crashwindow.run(shop.pay).crashed

        @pytest.mark.crash_at("utterly.different")
        def test_not_near(crashwindow):
            crashwindow.run(shop.pay)
        """
    )
    result.assert_outcomes(failed=3)
    text = "crash_at('shop.order.payed'): unknown point 'shop.order.payed'; did you mean 'shop.order.paid'?"
    result.stdout.fnmatch_lines(["*___ test_misspelled ___*", text, "*___ test_misspelled_and_failing ___*", text])
    result.stdout.fnmatch_lines(["crash_at('utterly.different'): unknown point*"])


# -- calls ---------------------------------------------------------------------------------------


def test_a_call_that_does_not_exist_is_an_error_of_its_test_alone(run: Run) -> None:
    result = run(
        """
        import pytest

        def send(): pass

        @pytest.mark.crash_at("test_it:sned")
        def test_name(crashwindow):
            crashwindow.run(send)

        @pytest.mark.crashwindow_calls("test_it.send")
        def test_spelling(crashwindow):
            crashwindow.run(send)

        @pytest.mark.crashwindow_calls("no_such_module:send")
        def test_module(crashwindow):
            crashwindow.run(send)

        @pytest.mark.crashwindow_calls(7)
        def test_type(crashwindow):
            crashwindow.run(send)

        def test_attach(crashwindow):
            crashwindow.attach("test_it:sned")

        def test_keyword(crashwindow):
            crashwindow.run(send, crash_at="test_it:sned")

        @pytest.mark.crash_at("test_it:send")
        def test_fine(crashwindow):
            assert crashwindow.run(send).crashed
        """
    )
    result.assert_outcomes(errors=4, failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "test_it:sned: the module test_it has no 'sned'; did you mean send?",
            "'test_it.send' is no call: write pkg.module:function *; did you mean test_it:send?",
            "no_such_module:send: there is no module no_such_module",
            "crashwindow_calls: a call is text such as 'shop.mail:Mailer.send', not 7",
            "E *NotAttachable: test_it:sned: the module test_it has no 'sned'; did you mean send?",
            "E *NotAttachable: test_it:sned: the module test_it has no 'sned'; did you mean send?",
        ]
    )


# -- arguments -----------------------------------------------------------------------------------

BAD = {
    "crash_at()": "crash_at: 'point' is missing; it is used as crash_at(point, nth=1)",
    "crash_at(7)": "crash_at: the point is a name such as 'shop.order.committed', not 7",
    "crash_at('')": "crash_at: the point is a name such as *",
    "crash_at('a', 0)": "crash_at: nth counts from 1, got 0",
    "crash_at('a+2', nth=3)": "crash_at: 'a+2' names the hit already, nth=3 names another",
    "crash_at('a', nth='2')": "crash_at: nth counts from 1, got '2'",
    "crash_at('a', nth=True)": "crash_at: nth counts from 1, got True",
    "crash_at('a', nth=None)": "crash_at: nth=None (every hit) is for faults that leave the life running*",
    "crash_at('a', 1, 2)": "crash_at: takes at most 2 positional arguments (point, nth), got ('a', 1, 2)",
    "crash_at('a', point='b')": "crash_at: point is given twice",
    "crash_at('a', when='now')": "crash_at: unknown argument when; it is used as crash_at(point, nth=1)",
    "crash_at('a', match=7)": "crash_at: match is a glob for an argument, such as 'order-7*', not 7",
    "error_at('a')": "error_at: 'error' is missing; it is used as error_at(point, error, nth=1)",
    "error_at('a', 7)": "error_at: an exception is a class, an instance or text 'module:Name', not 7",
    "error_at('a', 'OSError')": "error_at: an exception given as text is 'module:Name', here 'builtins:OSError', *",
    "delay_at('a')": "delay_at: 'seconds' is missing; it is used as delay_at(point, seconds, nth=1)",
    "lost_ack_at('m:f:enter')": "lost_ack_at: an answer can be lost after the call only: name it as 'm:f' or *",
    "duplicate_at('m:f:exit')": "duplicate_at: duplicate acts on a call as a whole: name it as 'm:f' or 'm:f:enter'",
}


def test_bad_arguments_are_errors_that_say_what_is_right(run: Run) -> None:
    tests = "\n".join(
        f"@pytest.mark.{marker}\ndef test_{number}(crashwindow): pass" for number, marker in enumerate(BAD)
    )
    result = run(f"import pytest\n{tests}")
    result.assert_outcomes(errors=len(BAD))
    for number, text in enumerate(BAD.values()):
        result.stdout.fnmatch_lines([f"*ERROR at setup of test_{number} *", text.replace("[", "[[]")], consecutive=True)


def test_a_marker_without_the_fixture_is_an_error_that_says_so(run: Run) -> None:
    result = run(
        """
        import pytest

        @pytest.mark.crash_at("shop.a")
        def test_it():
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["the marker crash_at arms a fault, but the test doesn't use the fixture `crashwindow`*"]
    )


def test_somebody_elses_marker_that_ends_alike_is_left_alone(run: Run) -> None:
    result = run(
        """
        import pytest

        @pytest.mark.look_at("shop.a")
        def test_it(): pass
        """,
        "-W",
        "ignore::pytest.PytestUnknownMarkWarning",
    )
    result.assert_outcomes(passed=1)


def test_markers_are_registered(run: Run) -> None:
    result = run("", "--markers")
    for name in ("crash", "lost_ack", "error", "pause", "duplicate", "delay"):
        result.stdout.fnmatch_lines([f"@pytest.mark.{name}_at(*"])


def test_off_arms_nothing(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_at("shop.a")
        def test_it(crashwindow):
            assert crashwindow.run(sys.audit, "shop.a").outcome == "returned"
        """,
        "--crashwindow-off",
    )
    result.assert_outcomes(passed=1)


def test_a_fault_that_never_fired_is_told_where_the_body_itself_fails(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_at("work.never.*")
        def test_work(crashwindow):
            assert crashwindow.run(sys.audit, "work.done").crashed
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *assert False", "E *crash_at('work.never.[*]') never fired: no life passed the point.", "E *  work.done"]
    )


def test_duplicate_at_takes_its_call_by_that_name(run: Run) -> None:
    result = run(
        """
        import pytest

        def send(crashwindow):
            crashwindow.effects.record("sent", 1)

        @pytest.mark.duplicate_at(call="test_it:send")
        def test_work(crashwindow):
            assert crashwindow.run(send, crashwindow).outcome == "returned"
            assert crashwindow.effects.count("sent") == 2
        """
    )
    result.assert_outcomes(passed=1)
