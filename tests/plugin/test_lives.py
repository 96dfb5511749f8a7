"""Lives: starting, outcomes, what comes back, and how they end."""

from __future__ import annotations

import asyncio
import atexit
import builtins
import concurrent.futures
import dataclasses
import functools
import logging
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow.errors import LifeNotOver, TooManyDeaths, Unpicklable

from .conftest import Run
from .waiting import wait_until


@dataclasses.dataclass
class Order:
    number: int


class Awkward(Exception):
    """Pickles, but can't be rebuilt from its arguments."""

    def __init__(self, code: int, *, text: str) -> None:
        super().__init__(code)


def place(number: int, *, express: bool = False) -> Order:
    return Order(number + 100 * express)


async def place_later(number: int) -> Order:
    await asyncio.sleep(0)
    return Order(number)


# -- what comes back -----------------------------------------------------------------------------


def test_run_gives_what_the_target_returned(crashwindow: Any) -> None:
    life = crashwindow.run(place, 7, express=True)
    assert life.outcome == "returned"
    assert life.value == Order(107)
    assert life.error is None
    assert life.returncode == 0
    assert life.pid != os.getpid()
    assert not life.crashed
    assert not life.paused


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(lambda: Order(1), id="lambda"),
        pytest.param(functools.partial(place, 1), id="partial"),
        pytest.param(functools.partial(place_later, 1), id="partial-of-async"),
        pytest.param(functools.partial(Order, 1), id="class"),
    ],
)
def test_a_target_is_any_callable(crashwindow: Any, target: Any) -> None:
    assert crashwindow.run(target).value == Order(1)


def test_a_closure_sees_its_variables_and_changes_only_its_own_copy(crashwindow: Any) -> None:
    seen = [1]
    assert crashwindow.run(lambda: seen.append(2) or seen).value == [1, 2]
    assert seen == [1]


def test_async_def_runs_in_a_loop_of_its_own(crashwindow: Any) -> None:
    assert crashwindow.run(place_later, 5).value == Order(5)


def test_a_target_that_is_not_callable_is_a_type_error(crashwindow: Any) -> None:
    with pytest.raises(TypeError, match="run, start and supervise take a function and its arguments, not 3"):
        crashwindow.run(3)


def test_the_exception_comes_back_with_the_lifes_traceback_as_note(crashwindow: Any) -> None:
    def fails() -> None:
        raise KeyError("o-1")

    life = crashwindow.run(fails)
    assert life.outcome == "raised"
    assert isinstance(life.error, KeyError)
    [note] = life.error.__notes__
    assert note.startswith("in life 'fails':\nTraceback (most recent call last):\n")
    assert 'raise KeyError("o-1")' in note
    assert "pytest_crashwindow" not in note
    with pytest.raises(KeyError, match="o-1"):
        _ = life.value


def test_a_value_that_cannot_be_pickled_names_its_type(crashwindow: Any) -> None:
    life = crashwindow.run(threading.Lock, name="locks")
    assert life.outcome == "returned"
    with pytest.raises(Unpicklable, match=r"life 'locks' returned a _thread\.lock, which can't come back"):
        _ = life.value


def test_an_exception_that_cannot_be_pickled_names_its_type(crashwindow: Any) -> None:
    def fails() -> None:
        class Local(Exception):
            pass

        raise Local("lost")

    error = crashwindow.run(fails).error
    assert isinstance(error, Unpicklable)
    assert "raised a" in str(error)
    assert "Local" in str(error)
    assert "lost" in error.__notes__[0]


def test_an_exception_that_cannot_be_rebuilt_names_its_type(crashwindow: Any) -> None:
    def fails() -> None:
        raise Awkward(3, text="odd")

    error = crashwindow.run(fails).error
    assert isinstance(error, Unpicklable)
    assert "Awkward" in str(error)
    assert "Awkward" in error.__notes__[0]


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), asyncio.CancelledError(), BaseException("odd")],
    ids=lambda e: type(e).__name__,
)
def test_whatever_it_raises_stays_in_the_life(crashwindow: Any, error: BaseException) -> None:
    here = os.getpid()

    def fails() -> None:
        raise error

    life = crashwindow.run(fails)
    assert os.getpid() == here
    assert life.outcome == "raised"
    assert type(life.error) is type(error)


@pytest.mark.parametrize("call", ["pytest.skip('x')", "pytest.fail('x')", "pytest.exit('x')", "pytest.xfail('x')"])
def test_pytests_own_outcomes_do_not_end_the_test_from_a_life(run: Run, call: str) -> None:
    result = run(
        f"""
        import pytest

        def test_first(crashwindow):
            life = crashwindow.run(lambda: {call})
            assert life.outcome == "raised"

        def test_second():
            pass
        """
    )
    result.assert_outcomes(passed=2)


def test_code_that_forks_and_forgets_to_exit_does_not_run_the_test_twice(run: Run) -> None:
    result = run(
        """
        import os

        def test_forks(crashwindow):
            life = crashwindow.run(os.fork)
            assert life.value > 0

        def child_ends_in_place_of_its_parent():
            child = os.fork()
            if child:
                os.waitpid(child, 0)
                os._exit(0)
            return "child"

        def test_the_childs_value_is_not_the_lifes(crashwindow):
            crashwindow.run(child_ends_in_place_of_its_parent)
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*unattributed death*with exit status 0*"])


def test_hits_and_window_of_a_life_without_points(crashwindow: Any) -> None:
    life = crashwindow.run(place, 1)
    assert life.hits == []
    assert life.window is None


# -- in the background ---------------------------------------------------------------------------


def test_start_returns_at_once_and_wait_waits(crashwindow: Any, tmp_path: Path) -> None:
    life = crashwindow.start(lambda: wait_until((tmp_path / "go").exists))
    assert life.outcome == "running"
    assert life.returncode is None
    with pytest.raises(LifeNotOver, match="is still running: wait"):
        _ = life.value
    (tmp_path / "go").touch()
    assert life.wait() is life
    assert life.outcome == "returned"
    assert life.wait() is life


def test_kill_is_no_crash(crashwindow: Any) -> None:
    life = crashwindow.start(threading.Event().wait)
    life.kill()
    assert life.outcome == "killed"
    assert not life.crashed
    assert life.returncode == -signal.SIGKILL
    with pytest.raises(LifeNotOver, match="has no value, it was killed"):
        _ = life.value
    assert life.kill().outcome == "killed"


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or since
        return False


def test_kill_takes_the_lifes_children_with_it(crashwindow: Any, tmp_path: Path) -> None:
    def parent() -> None:
        child = os.fork()
        if child == 0:
            (tmp_path / "pid").write_text(str(os.getpid()))
        signal.pause()

    life = crashwindow.start(parent)
    wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    child = int((tmp_path / "pid").read_text())
    life.kill()
    wait_until(lambda: not is_alive(child), "the child to be gone")


def test_an_ended_life_stays_as_it_is_when_killed(crashwindow: Any) -> None:
    assert crashwindow.run(place, 1).kill().value == Order(1)


def test_a_hundred_lives_leave_no_descriptors_open(crashwindow: Any) -> None:
    crashwindow.run(place, 0)
    before = len(os.listdir("/dev/fd"))
    lives = [crashwindow.start(place, number) for number in range(50)]
    assert [life.wait().value.number for life in lives] == list(range(50))
    for _ in range(50):
        crashwindow.run(sys.audit, "shop.a", crash_at="shop.a")
    assert len(os.listdir("/dev/fd")) == before


def test_lives_can_be_started_from_threads(crashwindow: Any) -> None:
    values: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: values.append(crashwindow.run(place, n).value.number)) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == [0, 1, 2, 3]


def test_a_daemon_that_closes_all_descriptors_is_followed(run: Run) -> None:
    source = """
        import os, sys, pytest

        def daemon(file):
            os.closerange(3, 1024)
            fds = [os.open(file, os.O_WRONLY | os.O_CREAT, 0o600) for _ in range(20)]
            sys.audit("daemon.a")
            sys.audit("daemon.a")
            return "served"

        @pytest.mark.crash_windows("daemon.a", pause="daemon.a")
        def test_daemon(crashwindow, tmp_path):
            life = crashwindow.supervise(daemon, tmp_path / "file").resume()
            assert life.value == "served"
            assert (tmp_path / "file").read_bytes() == b""
        """
    run(source).assert_outcomes(passed=5)


def test_code_that_replaces_functions_of_os_hands_its_value_over(crashwindow: Any) -> None:
    def target() -> str:
        for name in ("open", "write", "close", "replace", "rename", "getpid", "kill", "read"):
            setattr(os, name, None)
        builtins.open = None  # type: ignore[assignment]
        sys.audit("shop.paid")
        return "done"

    assert crashwindow.run(target, pause_at="shop.paid").resume().value == "done"


def test_a_life_started_in_a_pool_of_threads_ends_as_a_program_does(crashwindow: Any, tmp_path: Path) -> None:
    def target() -> None:
        threading.Timer(0.05, (tmp_path / "thread").touch).start()

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        life = pool.submit(crashwindow.run, target).result()
    assert life.outcome == "returned"
    assert life.stderr == ""
    assert (tmp_path / "thread").exists()


def test_a_life_can_be_started_while_another_thread_holds_locks(crashwindow: Any) -> None:
    held, done = threading.Event(), threading.Event()
    handler = logging.StreamHandler()
    logger = logging.getLogger("shop")

    def logs() -> None:
        with handler.lock:  # type: ignore[union-attr]
            held.set()
            done.wait()

    thread = threading.Thread(target=logs)
    thread.start()
    held.wait()
    try:
        logger.addHandler(handler)
        assert crashwindow.run(logger.warning, "in the life").outcome == "returned"
    finally:
        logger.removeHandler(handler)
        done.set()
        thread.join()


# -- supervise -----------------------------------------------------------------------------------


@pytest.mark.crash_at("shop.a", nth=2)
def test_supervise_runs_again_after_a_death_and_returns_the_life_that_ended(crashwindow: Any) -> None:
    def twice() -> str:
        sys.audit("shop.a")
        sys.audit("shop.a")
        return "done"

    life = crashwindow.supervise(twice)
    assert life.value == "done"
    assert life.name == "twice-2"
    assert [one.outcome for one in crashwindow.lives] == ["crashed", "returned"]


@pytest.mark.crash_at("shop.a")
@pytest.mark.crash_at("shop.a", nth=2)
def test_supervise_gives_up_and_lists_the_deaths(crashwindow: Any) -> None:
    with pytest.raises(TooManyDeaths) as caught:
        crashwindow.supervise(sys.audit, "shop.a", max_lives=2)
    assert str(caught.value).splitlines() == [
        "'audit' died in every life (max_lives=2):",
        "  audit: crashed at shop.a+1:crash",
        "  audit-2: crashed at shop.a+2:crash",
    ]


def test_supervise_stops_at_a_life_that_is_paused_or_raised(crashwindow: Any) -> None:
    assert crashwindow.supervise(sys.audit, "shop.a", pause_at="shop.a").paused
    assert crashwindow.supervise(sys.audit, "shop.a", error_at=("shop.a", OSError)).outcome == "raised"


# -- the end of a life is that of a program ------------------------------------------------------


def test_threads_are_joined_exit_handlers_run_and_buffers_flushed(crashwindow: Any, tmp_path: Path) -> None:
    def program() -> None:
        atexit.register((tmp_path / "atexit").touch)
        threading.Timer(0.05, (tmp_path / "thread").touch).start()
        buffered = open(tmp_path / "buffered", "w")  # noqa: SIM115
        buffered.write("text")
        crashwindow.kept = buffered
        print("no newline", end="")

    life = crashwindow.run(program)
    assert life.stdout == "no newline"
    assert (tmp_path / "atexit").exists()
    assert (tmp_path / "thread").exists()
    assert (tmp_path / "buffered").read_text() == "text"


def test_exit_handlers_of_the_test_do_not_run_in_lives(run: Run, pytester: pytest.Pytester) -> None:
    run(
        """
        import atexit, os

        def test_it(crashwindow, request):
            log = request.path.parent / "log"
            atexit.register(lambda: log.open("a").write("exit\\n"))
            crashwindow.run(lambda: None)
        """
    ).assert_outcomes(passed=1)
    assert not (pytester.path / "log").exists()


def test_a_life_that_raised_ends_orderly_as_well(crashwindow: Any, tmp_path: Path) -> None:
    def fails() -> None:
        atexit.register((tmp_path / "atexit").touch)
        raise ValueError

    assert crashwindow.run(fails).outcome == "raised"
    assert (tmp_path / "atexit").exists()


def test_over_looks_by_itself(crashwindow: Any) -> None:
    life = crashwindow.start(str)
    while not life.over:
        pass
    assert life.value == ""


@pytest.mark.crash_at("shop.in_atexit")
def test_points_in_exit_handlers_count(crashwindow: Any) -> None:
    def program() -> None:
        atexit.register(sys.audit, "shop.in_atexit")

    assert crashwindow.run(program).crashed


# -- what a life has of its own ------------------------------------------------------------------


def test_output_is_captured_for_each_life(crashwindow: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def talks(text: str) -> None:
        print(text)
        os.system(f"echo child of {text} >&2")

    lives = [crashwindow.run(talks, text) for text in ("a", "b")]
    assert [life.stdout for life in lives] == ["a\n", "b\n"]
    assert [life.stderr for life in lives] == ["child of a\n", "child of b\n"]
    assert capfd.readouterr() == ("", "")


def test_logging_and_thread_tracebacks_go_to_the_lifes_stderr(crashwindow: Any) -> None:
    def fails() -> None:
        logging.getLogger("shop").warning("low stock")
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()

    life = crashwindow.run(fails)
    assert "low stock" in life.stderr
    assert "ZeroDivisionError" in life.stderr


SQL_ERROR = "(sqlite3.OperationalError) no such table: mail\n[SQL: INSERT]\n(Background on this error at: https://sqlalche.me/e)"


def _multi_line() -> None:
    raise RuntimeError(SQL_ERROR)


def _with_note() -> None:
    error = ValueError("bad price")
    error.add_note("while reading line 7")
    raise error


def _in_a_chain() -> None:
    try:
        _multi_line()
    except RuntimeError as error:
        raise KeyError("price") from error


def _in_a_group() -> None:
    raise ExceptionGroup("two of them", [ValueError("a"), ValueError("b")])


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (_multi_line, "RuntimeError: (sqlite3.OperationalError) no such table: mail"),
        (_with_note, "ValueError: bad price"),
        (_in_a_chain, "KeyError: 'price'"),
        (_in_a_group, "ExceptionGroup: two of them (2 sub-exceptions)"),
        (lambda: compile("1 +", "shop.py", "exec"), "SyntaxError: invalid syntax"),
        (lambda: [][0], "IndexError: list index out of range"),
    ],
)
def test_the_timeline_has_the_type_and_the_first_line_of_an_exception(
    crashwindow: Any, target: Callable[[], None], told: str
) -> None:
    assert crashwindow.run(target).outcome == "raised"
    ends = [event["error"] for event in crashwindow._world.events() if event["event"] == "ended"]
    assert ends == [told]


def test_output_of_a_crashed_life_up_to_the_last_line_is_kept(crashwindow: Any) -> None:
    def talks() -> None:
        print("before")
        sys.audit("shop.a")

    assert crashwindow.run(talks, crash_at="shop.a").stdout == "before\n"


def test_output_is_shown_in_a_failure(run: Run) -> None:
    result = run(
        """
        import sys

        def talks():
            print("hello out")
            print("hello err", file=sys.stderr)

        def test_fails(crashwindow):
            crashwindow.run(talks)
            assert False

        def test_passes(crashwindow):
            crashwindow.run(talks)
        """
    )
    result.stdout.fnmatch_lines(
        [
            "*- crashwindow timeline -*",
            "*talks  started (pid *)",
            "*talks  returned",
            "*- crashwindow stdout of life 'talks' -*",
            "hello out",
            "*- crashwindow stderr of life 'talks' -*",
            "hello err",
        ]
    )
    assert result.stdout.str().count("hello out") == 1


def test_stdin_is_empty(crashwindow: Any) -> None:
    assert crashwindow.run(lambda: sys.stdin.read() + os.read(0, 9).decode()).value == ""


def test_a_life_leads_a_session_of_its_own(crashwindow: Any) -> None:
    life = crashwindow.run(lambda: (os.getsid(0), os.getpgrp()))
    assert life.value == (life.pid, life.pid)


def test_names_are_those_of_targets_or_given_and_unique(crashwindow: Any) -> None:
    names = [
        crashwindow.run(place, 1).name,
        crashwindow.run(place, 1).name,
        crashwindow.run(functools.partial(place, 1)).name,
        crashwindow.run(lambda: None).name,
        crashwindow.run(place, 1, name="worker A").name,
        crashwindow.run(place, 1, name="a/b").name,
    ]
    assert names == ["place", "place-2", "place-3", "life", "worker A", "a/b"]


def test_a_given_name_never_meets_a_made_one(crashwindow: Any) -> None:
    names = [crashwindow.run(place, 1, name=name).name for name in ("place-2", None, None)]
    assert len(set(names)) == 3


def test_signals_are_at_their_defaults(crashwindow: Any) -> None:
    def handlers() -> list[bool]:
        return [signal.getsignal(n) is signal.SIG_DFL for n in (signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM)]

    assert crashwindow.run(handlers).value == [True, True, True]


def test_lives_draw_different_random_numbers(crashwindow: Any) -> None:
    first, second = crashwindow.run(random.random).value, crashwindow.run(random.random).value
    assert first != second


def test_monkeypatching_of_the_test_is_seen_in_the_life(crashwindow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP", "open")
    monkeypatch.setattr(time, "time", lambda: 5.0)
    assert crashwindow.run(lambda: (os.environ["SHOP"], time.time())).value == ("open", 5.0)


# -- lives of fixtures ---------------------------------------------------------------------------


@pytest.fixture
def servers(crashwindow: Any) -> Iterator[list[Any]]:
    lives = [crashwindow.start(threading.Event().wait, name=f"server {n}") for n in range(2)]
    yield lives
    for life in lives:
        life.kill()


def test_a_fixture_may_start_lives(servers: list[Any], crashwindow: Any) -> None:
    assert [life.outcome for life in servers] == ["running", "running"]
    assert crashwindow.run(place, 1).value == Order(1)


def test_a_life_of_a_fixture_may_be_killed_in_the_test(servers: list[Any]) -> None:
    assert servers[0].kill().outcome == "killed"


def test_a_life_of_a_fixture_that_dies_unexplained_fails_the_test(run: Run) -> None:
    result = run(
        """
        import os, signal, threading, pytest

        @pytest.fixture
        def server(crashwindow):
            return crashwindow.start(threading.Event().wait)

        def test_dies(server):
            os.kill(server.pid, signal.SIGKILL)
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*life 'wait' ended by SIGKILL*"])


SLOW_TO_DIE = """
        import os, signal, threading, time, pytest

        def serve():
            memory = bytearray(os.urandom(1) * 400_000_000)  # which the kernel takes a while to free
            print("ready", flush=True)
            threading.Event().wait()

        def started(crashwindow):
            life = crashwindow.start(serve)
            while "ready" not in life.stdout:
                time.sleep(0.01)
            return life
"""


@pytest.mark.parametrize("wakes", ["", "life.kill()"])
def test_a_life_that_is_dying_of_something_else_when_the_test_ends_fails_it(run: Run, wakes: str) -> None:
    result = run(
        SLOW_TO_DIE
        + f"""
        def test_dies(crashwindow):
            life = started(crashwindow)
            os.kill(life.pid, signal.SIGKILL)
            {wakes}
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*life 'serve' ended by SIGKILL without a result*"])


def test_a_life_of_a_fixture_that_is_dying_when_the_test_ends_fails_it(run: Run) -> None:
    result = run(
        SLOW_TO_DIE
        + """
        @pytest.fixture
        def server(crashwindow):
            return started(crashwindow)

        def test_dies(server):
            os.kill(server.pid, signal.SIGKILL)
        """
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*life 'serve' ended by SIGKILL without a result*"])


@pytest.mark.parametrize("asleep", ["", "os.kill(life.pid, signal.SIGSTOP)"])
def test_a_life_that_lives_when_the_test_ends_is_nobodys_death(run: Run, asleep: str) -> None:
    result = run(
        SLOW_TO_DIE
        + f"""
        def test_lives(crashwindow):
            life = started(crashwindow)
            {asleep}
        """
    )
    result.assert_outcomes(passed=1)


def test_a_life_that_ran_in_a_fixture_can_be_read_in_the_test_and_at_tear_down(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.fixture
        def lives(crashwindow):
            first = crashwindow.run(lambda: 1)
            second = crashwindow.run(sys.audit, "shop.a", crash_at="shop.a")
            third = crashwindow.run(sys.audit, "shop.a", pause_at="shop.a")
            yield first, second, third
            assert first.value == 1
            assert third.outcome == "returned"

        def test_it(lives):
            assert lives[0].value == 1
            assert lives[1].crashed
            assert lives[2].paused
            assert lives[2].resume().outcome == "returned"
        """
    )
    result.assert_outcomes(passed=1)


def test_windows_refuses_lives_with_advice(crashwindow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_crashwindow.errors import UnsupportedPlatform

    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(UnsupportedPlatform, match="a life needs fork, SIGKILL and SIGSTOP, which Windows doesn't have"):
        crashwindow.run(place, 1)


def test_a_target_that_takes_a_name_gets_it(crashwindow: Any) -> None:
    def greets(name: str = "nobody") -> str:
        return name

    assert crashwindow.run(greets, name="bob").value == "bob"
    assert crashwindow.supervise(greets, name="bob").value == "bob"
    assert crashwindow.run(str, name="bob").name == "bob"


def test_targets_may_take_what_the_methods_call_theirs(crashwindow: Any) -> None:
    assert crashwindow.run(lambda **given: given, target=5, self=6).value == {"target": 5, "self": 6}


def test_a_fault_given_to_supervise_fires_once(crashwindow: Any) -> None:
    life = crashwindow.supervise(sys.audit, "work.done", crash_at="work.done")
    assert [life.name, life.outcome] == ["audit-2", "returned"]


def test_a_fault_given_to_supervise_waits_through_the_lives(crashwindow: Any) -> None:
    def work() -> None:
        sys.audit("work.begun")
        sys.audit("work.done")

    life = crashwindow.supervise(work, crash_at="work.begun", error_at=("work.done", KeyError))
    assert life.hits == ["work.begun+2", "work.done+1"]
    assert isinstance(life.error, KeyError)
