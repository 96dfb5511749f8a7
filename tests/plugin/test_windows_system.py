"""On Windows the plugin loads, and a test that needs a life is an error that says so."""

from __future__ import annotations

import pytest

from .conftest import Run

NOT_THERE = """
    import os, signal

    for name in ("fork", "pread", "killpg", "getpgrp", "setsid", "pidfd_open", "register_at_fork", "WNOHANG"):
        delattr(os, name)
    for name in ("SIGUSR1", "SIGUSR2", "SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGCHLD", "SIGRTMAX"):
        delattr(signal, name)
    """


def test_only_tests_that_need_a_life_are_errors(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(not_there=NOT_THERE)
    result = run(
        """
        import pytest

        def test_plain(): pass

        def test_needs_a_life(crashwindow): pass

        @pytest.mark.crash_at("shop.a")
        def test_marked(crashwindow): pass
        """,
        "-p",
        "not_there",
    )
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["E *UnsupportedPlatform: a life needs fork, SIGKILL and SIGSTOP, which Windows*"])
