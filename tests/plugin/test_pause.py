"""`pause`: the whole life, or one thread of it, is stopped until the test resumes it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow.errors import LifeNotOver

from .conftest import Run
from .waiting import wait_until


def step(*names: str) -> str:
    for name in names:
        sys.audit(f"shop.{name}")
    return "done"


def states(pid: int) -> set[str]:
    """What each thread of a process is doing, as one letter (T is stopped)."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return {(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks}


def test_it_finds_a_stale_worker_and_passes_one_with_a_fencing_token(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        def work(disk, clock, name, fenced):
            lease = float((disk / "lease").read_text()) if (disk / "lease").exists() else 0.0
            if clock() < lease:
                return
            (disk / "lease").write_text(str(clock() + 30))
            (disk / "owner").write_text(name)
            sys.audit("job.computed")
            if not fenced or (disk / "owner").read_text() == name:
                (disk / "result").write_text(name)

        @pytest.mark.pause_at("job.computed")
        @pytest.mark.parametrize("fenced", [False, True])
        def test_stale_worker_cannot_overwrite(crashwindow, tmp_path, fenced):
            first = crashwindow.run(work, tmp_path, crashwindow.clock, "A", fenced)
            assert first.paused
            crashwindow.clock.advance(31)
            crashwindow.run(work, tmp_path, crashwindow.clock, "B", fenced)
            first.resume()
            assert (tmp_path / "result").read_text() == "B"
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*overwrite[[]False[]]*", "*assert 'A' == 'B'*", "*>> pause at job.computed+1*"])


# -- the whole life ------------------------------------------------------------------------------


@pytest.mark.pause_at("shop.computed")
def test_every_thread_is_stopped_until_the_test_resumes_it(crashwindow: Any) -> None:
    def with_heartbeat() -> str:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        return step("computed", "written")

    life = crashwindow.run(with_heartbeat)
    assert life.paused
    assert life.outcome == "paused"
    assert states(life.pid) == {"T"}
    assert life.hits == ["shop.computed+1"]
    assert life.resume() is life
    assert not life.paused
    assert life.value == "done"
    assert life.hits == ["shop.computed+1", "shop.written+1"]


@pytest.mark.pause_at("shop.child")
def test_a_child_that_passes_stops_the_whole_life(crashwindow: Any) -> None:
    def forks() -> int:
        if os.fork() == 0:
            step("child")
            os._exit(7)
        return os.waitstatus_to_exitcode(os.wait()[1])

    life = crashwindow.run(forks)
    assert life.paused
    assert states(life.pid) == {"T"}
    assert life.resume().value == 7


@pytest.mark.pause_at("shop.child")
def test_a_child_in_a_session_of_its_own_stops_the_whole_life(crashwindow: Any) -> None:
    def forks() -> int:
        if os.fork() == 0:
            os.setsid()
            step("child")
            os._exit(7)
        return os.waitstatus_to_exitcode(os.wait()[1])

    life = crashwindow.run(forks)
    assert life.paused
    assert states(life.pid) == {"T"}
    assert life.resume().value == 7


@pytest.mark.pause_at("shop.child")
def test_a_child_process_of_the_life_is_stopped_as_well(crashwindow: Any, tmp_path: Path) -> None:
    def forks() -> None:
        child = os.fork()
        if child == 0:
            signal.pause()
        (tmp_path / "child").write_text(str(child))
        step("child")
        os.kill(child, signal.SIGKILL)

    life = crashwindow.run(forks)
    child = int((tmp_path / "child").read_text())
    wait_until(lambda: states(child) == {"T"}, "the child to stop")
    assert life.resume().outcome == "returned"


@pytest.mark.pause_at("shop.a")
@pytest.mark.pause_at("shop.b")
def test_a_life_can_be_paused_again(crashwindow: Any) -> None:
    life = crashwindow.run(step, "a", "b")
    assert life.resume().paused
    assert life.hits == ["shop.a+1", "shop.b+1"]
    assert str(life.window) == "shop.a+1:pause/shop.b+1:pause"
    assert life.resume().value == "done"


@pytest.mark.parametrize("_", range(20))
def test_a_resumed_life_is_never_stopped_a_second_time_at_the_same_point(crashwindow: Any, _: int) -> None:
    """The note of a stop may be read before the stop takes place."""
    lives = [crashwindow.start(step, "a", pause_at="shop.a") for _ in range(3)]
    for life in lives:
        life.wait_paused()
    for life in lives:
        assert life.resume().outcome == "returned"


@pytest.mark.pause_at("shop.a+1")
@pytest.mark.pause_at("shop.a+2")
@pytest.mark.pause_at("shop.a+3")
def test_threads_that_pause_at_the_same_time(crashwindow: Any) -> None:
    def three_threads() -> str:
        threads = [threading.Thread(target=step, args=("a",)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "done"

    life = crashwindow.run(three_threads)
    for _ in range(3):
        assert life.paused
        life.resume()
    assert life.value == "done"
    assert len(life.hits) == 3


def test_waiting_for_a_stopped_life_is_an_error_that_says_what_to_do(crashwindow: Any) -> None:
    life = crashwindow.run(step, "a", pause_at="shop.a")
    with pytest.raises(LifeNotOver, match="life 'step' is paused and would never end: resume"):
        life.wait()
    with pytest.raises(LifeNotOver, match="life 'step' is paused: resume"):
        _ = life.value
    late = crashwindow.start(step, "a", pause_at="shop.a")
    with pytest.raises(LifeNotOver, match=r"life 'step-2' (paused instead of|is paused and would never).*: resume"):
        late.wait()


def test_wait_paused_says_if_the_life_ended_instead(crashwindow: Any) -> None:
    with pytest.raises(LifeNotOver, match=r"'step' was to be paused, but returned; it passed shop.a\+1"):
        crashwindow.start(step, "a").wait_paused()


def test_resume_without_waiting_only_wakes(crashwindow: Any, tmp_path: Path) -> None:
    def waits_for_file() -> str:
        step("a")
        wait_until((tmp_path / "go").exists)
        return "went"

    life = crashwindow.run(waits_for_file, pause_at="shop.a")
    assert life.resume(wait=False).outcome == "running"
    (tmp_path / "go").touch()
    assert life.wait().value == "went"


def test_resume_does_nothing_to_other_lives(crashwindow: Any) -> None:
    ended, dead = crashwindow.run(step), crashwindow.run(step, "a", crash_at="shop.a")
    assert ended.resume().value == "done"
    assert dead.resume().crashed


def test_resume_all_wakes_every_paused_life_and_waits(crashwindow: Any) -> None:
    lives = [crashwindow.run(step, "a", pause_at="shop.a") for _ in range(3)]
    crashwindow.resume_all()
    assert [life.value for life in lives] == ["done"] * 3


def test_a_life_stopped_from_outside_is_paused_too(crashwindow: Any) -> None:
    life = crashwindow.start(threading.Event().wait)
    os.kill(life.pid, signal.SIGSTOP)  # perhaps before it has a process group of its own
    life.wait_paused()
    life.resume(wait=False)
    wait_until(lambda: states(life.pid) != {"T"}, "the life to run")
    assert life.outcome == "running"


def test_a_paused_life_can_be_killed(crashwindow: Any) -> None:
    life = crashwindow.run(step, "a", pause_at="shop.a").kill()
    assert life.outcome == "killed"
    assert not life.crashed


def test_a_life_still_paused_at_the_end_never_wakes_and_is_no_failure(run: Run, pytester: pytest.Pytester) -> None:
    result = run(
        """
        import sys, pytest

        def sleeper(path):
            sys.audit("shop.a")
            path.touch()

        @pytest.mark.pause_at("shop.a")
        def test_left(crashwindow, request):
            assert crashwindow.run(sleeper, request.path.parent / "woken").paused
        """
    )
    result.assert_outcomes(passed=1)
    assert not (pytester.path / "woken").exists()


# -- one thread ----------------------------------------------------------------------------------


def two_workers(go: Path) -> list[str]:
    """A takes the job and computes; B, once told to, takes it over."""
    log: list[str] = []

    def worker_a() -> None:
        log.append("A takes")
        sys.audit("shop.slow")
        log.append("A writes")

    def worker_b() -> None:
        wait_until(go.exists)
        log.append("B takes")
        sys.audit("shop.b_takes")
        sys.audit("shop.quick")
        log.append("B writes")
        sys.audit("shop.b_is_through")

    threads = [threading.Thread(target=worker) for worker in (worker_a, worker_b)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return log


@pytest.mark.pause_at("shop.slow", scope="thread")
def test_scope_thread_stops_only_the_thread_that_passes(crashwindow: Any, tmp_path: Path) -> None:
    life = crashwindow.start(two_workers, tmp_path / "go").wait_paused()
    (tmp_path / "go").touch()
    wait_until(lambda: "shop.b_is_through+1" in life.hits, "the other thread")
    assert life.paused
    assert states(life.pid) != {"T"}
    assert life.resume().value == ["A takes", "B takes", "B writes", "A writes"]


@pytest.mark.pause_at("shop.slow", scope="thread", hold=["shop.quick"])
def test_hold_stops_other_threads_at_further_points(crashwindow: Any, tmp_path: Path) -> None:
    life = crashwindow.start(two_workers, tmp_path / "go").wait_paused()
    (tmp_path / "go").touch()
    wait_until(lambda: "shop.b_takes+1" in life.hits, "the other thread")
    assert life.hits == ["shop.slow+1", "shop.b_takes+1"]
    assert life.resume().outcome == "returned"
    assert life.hits[2:] == ["shop.quick+1", "shop.b_is_through+1"]


@pytest.mark.pause_at("shop.a", scope="thread", hold=["shop.held"])
@pytest.mark.pause_at("shop.b", scope="thread", hold=["shop.held"])
def test_hold_works_for_a_second_pause_too(crashwindow: Any) -> None:
    def with_other() -> str:
        def other() -> None:
            for _ in range(2):
                begun.wait()
                begun.clear()
                sys.audit("shop.held")
                passed.set()

        begun, passed = threading.Event(), threading.Event()
        threading.Thread(target=other, daemon=True).start()
        for name in ("a", "b"):
            passed.clear()
            threading.Timer(0, begun.set).start()
            sys.audit(f"shop.{name}")
            passed.wait()
        return "done"

    life = crashwindow.run(with_other)
    for _ in range(2):
        assert life.paused
        life.resume()
    assert life.value == "done"


@pytest.mark.pause_at("shop.a", scope="thread")
@pytest.mark.pause_at("shop.b")
def test_a_held_thread_and_then_the_whole_life(crashwindow: Any) -> None:
    def two() -> str:
        thread = threading.Thread(target=step, args=("a",))
        thread.start()
        step("b")
        thread.join()
        return "done"

    life = crashwindow.run(two)
    while life.paused:
        life.resume()
    assert life.value == "done"


def test_waiting_for_a_life_with_a_held_thread_is_allowed(crashwindow: Any, tmp_path: Path) -> None:
    def leaves_a_thread() -> str:
        threading.Thread(target=step, args=("a",), daemon=True).start()
        wait_until((tmp_path / "go").exists)
        return "done"

    life = crashwindow.start(leaves_a_thread, pause_at={"point": "shop.a", "scope": "thread"}).wait_paused()
    (tmp_path / "go").touch()
    assert life.wait().value == "done"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('scope="process"', 'scope is "life" or "thread", not \'process\''),
        ('hold=["shop.b"]', 'needs scope="thread"'),
        ("nth=None", "nth=None (every hit) is for faults that leave the life running"),
    ],
)
def test_arguments_are_checked(run: Run, arguments: str, message: str) -> None:
    result = run(
        f"""
        import pytest

        @pytest.mark.pause_at("shop.a", {arguments})
        def test_paused(crashwindow):
            pass
        """
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*pause_at: *{message}*".replace("[", "[[]")])
