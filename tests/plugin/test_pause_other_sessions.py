"""A pause stops the whole life: also a child that has a session of its own, as supervisors give it."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="children are listed in /proc")
def test_a_heartbeat_in_another_session_stops_and_goes_on(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, subprocess, sys
        from pathlib import Path

        HEART = "import sys; print('up', flush=True); sys.stdin.read()"

        def state(pid):
            return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]

        def test_it(crashwindow, tmp_path):
            def work():
                heart = subprocess.Popen(
                    [sys.executable, "-c", HEART], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
                )
                heart.stdout.readline()
                (tmp_path / "heart").write_text(str(heart.pid))
                sys.audit("shop.beating")
                heart.communicate()
                return heart.returncode

            life = crashwindow.run(work, pause_at="shop.beating")
            heart = int((tmp_path / "heart").read_text())
            while state(heart) != "T":  # pytest-timeout ends a test in which it goes on beating
                os.sched_yield()
            assert life.resume().value == 0
        """
    )
    pytester.runpytest_subprocess("--timeout=60").assert_outcomes(passed=1)
