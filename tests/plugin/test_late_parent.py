"""A life may be at its first points before the process that forked it goes on."""

from __future__ import annotations

from .conftest import Run


def test_windows_behind_a_window_are_those_of_later_lives(run: Run) -> None:
    result = run(
        """
        import os, sys, time, pytest

        def work():
            sys.audit("work.a")
            sys.audit("work.b")

        @pytest.mark.crash_windows("work.*", depth=2)
        def test_work(crashwindow):
            os.register_at_fork(after_in_parent=lambda: time.sleep(0.1))
            crashwindow.supervise(work)
        """,
        "-v",
    )
    result.stdout.no_fnmatch_line("*FAILED*")
    result.stdout.fnmatch_lines(["*::test_work?work.b+1:crash/work.a+2:crash? PASSED*"])
    result.stdout.no_fnmatch_line("*/work.a+1:crash*")
