"""Calls whose module isn't imported when they are named: a slip in them is an error, whatever becomes of the module."""

from __future__ import annotations

import os
import time
from textwrap import dedent
from typing import Any

import pytest

from pytest_crashwindow import BadOption

from .conftest import Run

MAIL = """
class Mailer:
    def send(self, to):
        return to
"""

PLACE = """
import os, sys, pytest

def place():
    sys.audit("shop.placed")

def place_with_mail():
    sys.audit("shop.placed")
    try:
        from mailing import Mailer
    except Exception:
        return "no mail"
    return Mailer().send("ann")
"""

SLIP = "mailing:Mailer.sned: the class mailing:Mailer has no 'sned'; did you mean send?"

NAMED = {
    "marker": """
        @pytest.mark.crashwindow_calls("mailing:Mailer.sned")
        def test_it(crashwindow):
            crashwindow.run(place).value
        """,
    "calls of a sweep": """
        @pytest.mark.crash_windows("shop.*", calls=["mailing:Mailer.sned"])
        def test_it(crashwindow):
            crashwindow.supervise(place)
        """,
    "kind of fault": """
        @pytest.mark.crash_windows("shop.*", lost_ack="mailing:Mailer.sned")
        def test_it(crashwindow):
            crashwindow.supervise(place)
        """,
    "attach": """
        def test_it(crashwindow):
            crashwindow.attach("mailing:Mailer.sned")
            crashwindow.run(place).value
        """,
    "attach in a fixture": """
        @pytest.fixture
        def mail(crashwindow):
            crashwindow.attach("mailing:Mailer.sned")

        def test_it(crashwindow, mail):
            crashwindow.run(place).value
        """,
    "swallowed by the code under test": """
        @pytest.mark.crash_windows("shop.*", calls=["mailing:Mailer.sned"])
        def test_it(crashwindow):
            crashwindow.supervise(place_with_mail).value
        """,
}


def _program(body: str) -> str:
    return PLACE + dedent(body)


@pytest.mark.parametrize("named", NAMED)
def test_a_slip_is_an_error_with_the_nearest_name(run: Run, pytester: pytest.Pytester, named: str) -> None:
    pytester.makepyfile(mailing=MAIL)
    result = run(_program(NAMED[named]))
    result.assert_outcomes(failed=1)
    assert SLIP in result.stdout.str()


def test_attach_raises_at_once(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mailing=MAIL)
    body = """
        def test_it(crashwindow):
            with pytest.raises(Exception, match="did you mean send"):
                crashwindow.attach("mailing:Mailer.sned")
            assert crashwindow.run(place_with_mail).hits == ["shop.placed+1"]
        """
    run(_program(body)).assert_outcomes(passed=1)


@pytest.mark.parametrize("call", [time.sleep, None, 7])
def test_attach_wants_text(crashwindow: Any, call: Any) -> None:
    with pytest.raises(BadOption, match=r"attach: a call is text such as 'shop.mail:Mailer.send', not "):
        crashwindow.attach(call)


CALL = """
@pytest.mark.crashwindow_calls("mailing:send")
def test_it(crashwindow):
    crashwindow.run(place).value
"""


def test_a_call_in_the_source_is_not_imported_for_that(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mailing="open('imported', 'w').close()\ndef send(): pass")
    run(PLACE + CALL).assert_outcomes(passed=1)
    assert not (pytester.path / "imported").exists()


@pytest.mark.parametrize(
    "source",
    [
        "globals()['send'] = lambda: 1",
        "raise ValueError('not here')",
        "import no_such_library",
        "raise SystemExit",
    ],
)
def test_what_an_import_makes_or_cannot_tell_is_no_error(run: Run, pytester: pytest.Pytester, source: str) -> None:
    pytester.makepyfile(mailing=f"print('noise')\n{source}")
    result = run(PLACE + CALL, "-s")
    result.assert_outcomes(passed=1)
    assert "noise" not in result.stdout.str() + result.stderr.str()


def test_an_import_that_never_ends_leaves_nothing_behind(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        mailing="""
        import os, subprocess, sys, time
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
        open("pids", "w").write(f"{os.getpid()} {child.pid}")
        time.sleep(300)
        """
    )
    pytester.makeconftest("from pytest_crashwindow import rehearsing\nrehearsing.PATIENCE = 2.0\n")
    begun = time.monotonic()
    run(PLACE + CALL).assert_outcomes(passed=1)
    assert time.monotonic() - begun < 60
    for pid in (pytester.path / "pids").read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


ELSEWHERE = """
def place_elsewhere():
    open("elsewhere", "w").close()  # while it exists, the module is another one
    try:
        import mailing
    except Exception:
        return "no mail"
    finally:
        os.remove("elsewhere")
    return "mail"
"""

OTHER_MODULE = """
import os
if not os.path.exists("elsewhere"):
    def send(): pass
"""


def test_a_module_that_differs_in_the_life_fails_the_test_and_not_the_import(
    run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(mailing=OTHER_MODULE)
    body = """
        @pytest.mark.crashwindow_calls("mailing:send")
        def test_it(crashwindow):
            life = crashwindow.run(place_elsewhere)
            print("the life says", life.value)
        """
    result = run(_program(ELSEWHERE + body.replace("\n        ", "\n")))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["error: mailing:send: the module mailing has no 'send'", "the life says mail"])


def test_the_same_in_the_test_body(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mailing=OTHER_MODULE)
    body = CALL.replace("crashwindow.run(place).value", "place_elsewhere() == 'mail' or exit()")
    result = run(PLACE + ELSEWHERE + body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["error: mailing:send: the module mailing has no 'send'"])


def test_the_same_in_a_life_of_a_fixture(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(mailing=OTHER_MODULE)
    body = """
@pytest.fixture
def shop(crashwindow):
    return crashwindow.run(place_elsewhere)

@pytest.mark.crashwindow_calls("mailing:send")
def test_it(shop):
    assert shop.value == "mail"
"""
    result = run(PLACE + ELSEWHERE + body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["error: mailing:send: the module mailing has no 'send'"])
