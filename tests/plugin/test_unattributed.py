"""A death that no fault of the test explains is never a pass, whatever the test body makes of it."""

from __future__ import annotations

import pytest

from .conftest import Run

WAYS = {
    "exit_0": ("os._exit(0)", "with exit status 0 without a result"),
    "exit_1": ("os._exit(1)", "with exit status 1 without a result"),
    "exit_of_a_kill": ("os._exit(137)", "with exit status 137 without a result"),
    "segfault": ("ctypes.string_at(0)", "by SIGSEGV without a result"),
    "sigkill": ("os.kill(os.getpid(), signal.SIGKILL)", "by SIGKILL without a result"),
    "sigterm": ("os.kill(os.getpid(), signal.SIGTERM)", "by SIGTERM without a result"),
    "abort": ("os.abort()", "by SIGABRT without a result"),
    "in_atexit": ("atexit.register(os._exit, 0)", "with exit status 0 without a result"),
    "in_thread": ("[threading.Thread(target=os._exit, args=(3,)).start(), time.sleep(60)]", "with exit status 3"),
}


def test_each_way_to_die_fails_the_test_and_says_how(run: Run) -> None:
    tests = "\n".join(
        f"def test_{name}(crashwindow):\n    crashwindow.run(lambda: {code})" for name, (code, _) in WAYS.items()
    )
    result = run(f"import atexit, ctypes, os, signal, sys, threading, time\n{tests}")
    result.assert_outcomes(failed=len(WAYS))
    for name, (_, text) in WAYS.items():
        result.stdout.fnmatch_lines(
            [f"*___ test_{name} ___*", f"E *UnattributedDeath: unattributed death: life 'life' ended {text}*"]
        )
    result.stdout.fnmatch_lines(["*Fatal Python error: Segmentation fault*"])


def test_the_body_cannot_swallow_it(run: Run) -> None:
    result = run(
        """
        import os, pytest

        def test_raises(crashwindow):
            with pytest.raises(Exception):
                crashwindow.run(os._exit, 0)

        def test_base(crashwindow):
            try:
                crashwindow.run(os._exit, 0)
            except BaseException:
                pass

        def test_supervise(crashwindow):
            with pytest.raises(Exception):
                crashwindow.supervise(os._exit, 1)

        def test_skip(crashwindow):
            with pytest.raises(Exception):
                crashwindow.run(os._exit, 0)
            pytest.skip("too late")

        def test_background(crashwindow):
            life = crashwindow.start(os._exit, 0)
            os.waitid(os.P_PID, life.pid, os.WEXITED | os.WNOWAIT)
        """
    )
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(
        ["unattributed death: life '_exit' ended with exit status 0 without a result, and no fault*"]
    )


def test_a_kill_from_outside_beside_an_armed_fault_is_not_taken_for_it(run: Run) -> None:
    result = run(
        """
        import os, signal, sys, threading, pytest

        def passes_then_waits():
            sys.audit("shop.a")
            threading.Event().wait()

        @pytest.mark.crash_at("shop.a", nth=2)
        def test_killed(crashwindow):
            life = crashwindow.start(passes_then_waits)
            while not life.hits:
                assert life.outcome == "running"
            os.kill(life.pid, signal.SIGKILL)
            life.wait()

        @pytest.mark.pause_at("shop.a")
        def test_killed_while_paused(crashwindow):
            life = crashwindow.run(passes_then_waits)
            os.kill(life.pid, signal.SIGKILL)
            life.resume()
        """
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*unattributed death*by SIGKILL*", "*unattributed death*by SIGKILL*"])


def test_a_body_that_dies_itself_fails_and_the_run_goes_on(run: Run) -> None:
    result = run(
        """
        import os, signal

        def test_exit(crashwindow):
            print("last words")
            os._exit(0)

        def test_kill(crashwindow):
            os.kill(os.getpid(), signal.SIGKILL)

        def test_after(crashwindow):
            assert crashwindow.run(lambda: 1).value == 1
        """
    )
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*the process that ran the test body ended with exit status 0 before it could report. *",
            "*last words*",
            "*the process that ran the test body ended by SIGKILL before it could report. *",
        ]
    )


@pytest.mark.parametrize("status", ["raised", "returned"])
def test_a_life_that_ends_by_itself_is_none(run: Run, status: str) -> None:
    code = "1 / 0" if status == "raised" else "1"
    result = run(
        f"""
        def test_it(crashwindow):
            assert crashwindow.run(lambda: {code}).outcome == {status!r}
        """
    )
    result.assert_outcomes(passed=1)
