"""What comes late, in another process than the one that looks: no verdict depends on the moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import Run
from .sweeping import outcomes

NEXT_PID = Path("/proc/sys/kernel/ns_last_pid")


def test_a_life_that_is_slow_to_stop_itself_goes_on_when_it_is_resumed(run: Run) -> None:
    result = run(
        """
        import sys, time, pytest

        def worker(path):
            from pytest_crashwindow import originals
            stop = originals.killpg
            originals.killpg = lambda *args: (time.sleep(3), stop(*args))  # as if the scheduler had forgotten it
            sys.audit("shop.computed")
            path.write_text("stale")

        @pytest.mark.pause_at("shop.computed")
        def test_stale_worker(crashwindow, tmp_path):
            first = crashwindow.run(worker, tmp_path / "result")
            assert first.paused
            (tmp_path / "result").write_text("right")
            assert first.resume().outcome == "returned"
            assert (tmp_path / "result").read_text() == "stale"
        """
    )
    result.assert_outcomes(passed=1)


LATE = """
import os, sys, time, pytest

def idle():
    time.sleep(100)

def in_the_background(ended):
    while not ended.exists():
        time.sleep(0.001)
    time.sleep(0.001)
    sys.audit("shop.half")
    time.sleep(100)

def in_a_child(ended):
    if os.fork() == 0:
        in_the_background(ended)

def linger(crashwindow):
    # Lives are ended one by one: while these are, the last one goes on.
    for _ in range(60):
        crashwindow.start(idle)
"""


@pytest.mark.parametrize("work", ["in_the_background", "in_a_child"])
def test_a_fault_that_fires_when_the_body_is_over_did_not_fire(run: Run, work: str) -> None:
    result = run(
        LATE
        + f"""
@pytest.mark.crash_at("shop.half")
def test_late(crashwindow, tmp_path):
    linger(crashwindow)
    crashwindow.start({work}, crashwindow._world.directory / "body_ended")
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines([r"crash_at\('shop.half'\) (fired after the test body had ended|never fired: )"])


@pytest.mark.parametrize("work", ["in_the_background", "in_a_child"])
def test_what_is_passed_when_the_body_is_over_gives_no_window(run: Run, work: str) -> None:
    result = run(
        LATE
        + f"""
@pytest.mark.crash_windows("shop.*")
def test_late(crashwindow, tmp_path):
    linger(crashwindow)
    crashwindow.start({work}, crashwindow._world.directory / "body_ended")
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["the control passed no point, *", "Life * was still running when the test body ended: wait() for it."]
    )


def test_a_life_of_a_fixture_that_is_dying_is_told_in_the_window_that_killed_it(run: Run) -> None:
    result = run(
        """
        import os, signal, sys, threading, time, pytest

        def serve():
            memory = bytearray(os.urandom(1) * 400_000_000)  # which the kernel takes a while to free
            print("ready", flush=True)
            threading.Event().wait()

        @pytest.fixture
        def server(crashwindow):
            life = crashwindow.start(serve)
            while "ready" not in life.stdout:
                time.sleep(0.01)
            return life

        def work():
            for name in "abc":
                sys.audit(f"work.{name}")

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow, server):
            crashwindow.supervise(work)
            if str(crashwindow.window) == "work.b+1:crash":
                os.kill(server.pid, signal.SIGKILL)
        """,
        "-v",
    )
    told = outcomes(result)
    assert (told["test_work[work.a+1:crash]"], told["test_work[work.b+1:crash]"]) == ("PASSED", "FAILED")


@pytest.mark.parametrize("of_a_fixture", [True, False])
def test_a_life_that_was_stopped_and_woken_by_somebody_else_runs(run: Run, of_a_fixture: bool) -> None:
    result = run(
        f"""
        import os, signal, time, pytest

        def serve(path):
            if os.fork() == 0:
                os.setsid()
                while True:
                    path.write_text(str(time.monotonic()))
                    time.sleep(0.01)
            time.sleep(1000)

        def started(crashwindow, tmp_path):
            life = crashwindow.start(serve, tmp_path / "beat")
            while not (tmp_path / "beat").exists() or not beat(tmp_path):
                time.sleep(0.01)
            return life

        def beat(tmp_path):
            return (tmp_path / "beat").read_text()

        @pytest.fixture
        def server(crashwindow, tmp_path):
            return started(crashwindow, tmp_path) if {of_a_fixture} else None

        def test_it(crashwindow, server, tmp_path):
            life = server or started(crashwindow, tmp_path)
            os.kill(life.pid, signal.SIGSTOP)
            time.sleep(0.2)  # for the guard to hear of it
            os.kill(life.pid, signal.SIGCONT)
            time.sleep(0.2)
            assert life.outcome == "running"
            before, end = beat(tmp_path), time.monotonic() + 20
            while beat(tmp_path) in ("", before):
                assert time.monotonic() < end, "its child was stopped"
        """
    )
    result.assert_outcomes(passed=1)


@pytest.mark.skipif(not os.access(NEXT_PID, os.W_OK), reason="needs to choose the pid of a process")
def test_the_record_of_a_life_does_not_explain_the_death_of_another_with_its_pid(run: Run) -> None:
    result = run(
        f"""
        import os, signal, sys, time, pytest

        @pytest.mark.crash_at("shop.a")
        def test_it(crashwindow):
            dead = crashwindow.run(sys.audit, "shop.a")
            for _ in range(200):
                open("{NEXT_PID}", "w").write(str(dead.pid - 1))
                life = crashwindow.start(time.sleep, 100)
                if life.pid == dead.pid:
                    break
                life.kill()
            else:
                pytest.skip("others were quicker")
            os.kill(life.pid, signal.SIGKILL)
        """
    )
    assert result.parseoutcomes() in ({"failed": 1}, {"skipped": 1})
