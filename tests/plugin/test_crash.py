"""`crash`: the life is SIGKILLed at the point."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run
from .waiting import wait_until


def test_it_finds_a_transfer_that_is_torn_and_passes_one_that_is_finished_by_recovery(run: Run) -> None:
    result = run(
        """
        import os, sys, pytest

        def torn(bank):
            if not (bank / "from").exists():
                (bank / "from").write_text("-10")
                sys.audit("bank.debited")
                (bank / "to").write_text("+10")

        def journaled(bank):
            (bank / "journal").touch()
            (bank / "from").write_text("-10")
            sys.audit("bank.debited")
            (bank / "to").write_text("+10")

        @pytest.mark.crash_at("bank.debited")
        @pytest.mark.parametrize("transfer", [torn, journaled])
        def test_no_money_is_lost(crashwindow, tmp_path, transfer):
            life = crashwindow.run(transfer, tmp_path)
            assert life.crashed
            crashwindow.run(transfer, tmp_path)
            assert (tmp_path / "to").exists()
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_no_money_is_lost[[]torn[]]*", "E * assert False", "*>> crash at bank.debited+1*"]
    )


@pytest.mark.crash_at("shop.dies")
def test_nothing_runs_after_the_point(crashwindow: Any, tmp_path: Path) -> None:
    def dies() -> None:
        unflushed = open(tmp_path / "unflushed", "w")  # noqa: SIM115
        unflushed.write("buffered")
        try:
            sys.audit("shop.dies")
        finally:
            (tmp_path / "finally").touch()

    life = crashwindow.run(dies)
    assert life.crashed
    assert life.outcome == "crashed"
    assert life.returncode == -signal.SIGKILL
    assert (tmp_path / "unflushed").read_text() == ""
    assert not (tmp_path / "finally").exists()


@pytest.mark.crash_at("shop.dies")
def test_another_thread_that_passes_takes_the_whole_life(crashwindow: Any) -> None:
    def two_threads() -> None:
        threading.Thread(target=sys.audit, args=("shop.dies",)).start()
        threading.Event().wait()

    assert crashwindow.run(two_threads).crashed


@pytest.mark.crash_at("shop.dies")
def test_it_fires_once_in_a_world(crashwindow: Any) -> None:
    def passes() -> str:
        sys.audit("shop.dies")
        return "alive"

    first, second = crashwindow.run(passes), crashwindow.run(passes)
    assert first.crashed
    assert second.value == "alive"
    assert first.hits == ["shop.dies+1"]
    assert second.hits == ["shop.dies+2"]
    assert str(first.window) == "shop.dies+1:crash"
    assert second.window is None


@pytest.mark.crash_at("shop.dies")
def test_a_child_process_of_the_life_dies_alone(crashwindow: Any) -> None:
    def forks() -> int:
        child = os.fork()
        if child == 0:
            sys.audit("shop.dies")
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    life = crashwindow.run(forks)
    assert life.value == -signal.SIGKILL
    assert str(life.window) == "shop.dies+1:crash"


def test_a_parent_that_dies_of_its_childs_crash_is_no_crash_of_ours(run: Run) -> None:
    """The record names the child; the parent's own `os._exit` isn't explained by it."""
    result = run(
        """
        import os, sys, pytest

        def forks():
            if os.fork() == 0:
                sys.audit("shop.dies")
            os.wait()
            os._exit(137)

        @pytest.mark.crash_at("shop.dies")
        def test_child(crashwindow):
            crashwindow.run(forks)
        """
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*unattributed death: life 'forks' ended with exit status 137*"])


def test_death_by_exit_ends_with_the_status_of_a_kill_and_leaves_no_more_behind(run: Run) -> None:
    result = run(
        """
        import atexit, os, pytest, sys

        def dies(path):
            atexit.register(path.touch)
            os._exit = lambda status: None  # the original is used
            try:
                sys.audit("shop.dies")
            finally:
                path.touch()

        @pytest.mark.crash_at("shop.dies")
        def test_exit(crashwindow, tmp_path):
            life = crashwindow.run(dies, tmp_path / "alive")
            assert life.crashed and life.returncode == 137
            assert not (tmp_path / "alive").exists()
        """,
        "--crashwindow-death=exit",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.crash_at("shop.dies")
def test_what_the_life_started_goes_on_alone_as_in_production(crashwindow: Any, tmp_path: Path) -> None:
    def dies() -> None:
        wait_for_go = f"import sys; sys.stdin.read(1); open({str(tmp_path / 'done')!r}, 'w')"
        subprocess.Popen([sys.executable, "-c", wait_for_go], stdin=subprocess.PIPE, start_new_session=True)
        sys.audit("shop.dies")

    # Its end of the pipe closes with the life, which lets the child go on.
    assert crashwindow.run(dies).crashed
    wait_until((tmp_path / "done").exists)
