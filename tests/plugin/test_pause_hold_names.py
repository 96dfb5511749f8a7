"""`hold=[...]` names points as well: a slip in one is an error, and what it names is attached and watched."""

from __future__ import annotations

import pytest

from .conftest import Run

SOURCE = """
import sys, threading, pytest

def send():
    pass

def work():
    sys.audit("shop.placed")

def two_threads():
    sys.audit("shop.placed")
    sent = []
    other = threading.Thread(target=lambda: (send(), sys.audit("shop.sent"), sent.append(1)))
    other.start()
    other.join(0.3)
    sys.audit("shop.done")
    return sent

def never():
    sys.audit("shop.committed")
"""


@pytest.mark.parametrize("hold", ["['shop.comitted']", "'shop.comitted'", "['shop.placed', 'shop.comitted']"])
def test_a_slip_in_a_marker_or_keyword_is_an_error(run: Run, hold: str) -> None:
    result = run(
        SOURCE
        + f"""
@pytest.mark.pause_at("shop.placed", scope="thread", hold={hold})
def test_marker(crashwindow):
    crashwindow.run(work).resume()

def test_keyword(crashwindow):
    crashwindow.run(work, pause_at={{"point": "shop.placed", "scope": "thread", "hold": {hold}}}).resume()

@pytest.mark.pause_at("shop.placed", scope="thread", hold={hold})
def test_body_that_fails(crashwindow):
    assert crashwindow.run(work).resume().outcome == "crashed"
"""
    )
    result.assert_outcomes(failed=3)
    said = "pause_at('shop.placed')*: hold: unknown point 'shop.comitted'; did you mean 'shop.committed' or *"
    result.stdout.fnmatch_lines([said] * 3)


@pytest.mark.parametrize("hold", ["shop.committed", "shop.committed.*", "test_it:send", "test_it:send:enter"])
def test_a_point_that_exists_need_not_be_passed(run: Run, hold: str) -> None:
    source = f"""
@pytest.mark.pause_at("shop.placed", scope="thread", hold=["{hold}"])
def test_it(crashwindow):
    crashwindow.run(work).resume()
"""
    run(SOURCE + source).assert_outcomes(passed=1)


@pytest.mark.parametrize("hold", ["test_it:send", "shop.sent"])
def test_it_holds_at_calls_and_where_the_options_select_nothing(run: Run, hold: str) -> None:
    source = f"""
@pytest.mark.pause_at("shop.other", scope="thread", hold=["{hold}"])
def test_it(crashwindow):
    def both():
        held = threading.Thread(target=sys.audit, args=("shop.other",), daemon=True)
        held.start()
        while not paused.exists():
            pass
        return two_threads()

    paused = crashwindow.directory / "paused"
    life = crashwindow.start(both).wait_paused()
    paused.touch()
    import time
    time.sleep(0.6)
    life.resume()
    assert life.value == []
"""
    run(SOURCE + source, "-o", "crashwindow_points=shop.done").assert_outcomes(passed=1)
