"""The guard itself is killed from outside: the test fails, the run goes on, nothing stays behind."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .waiting import wait_until


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_lives_go_with_the_guard(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, signal, time

        def test_guard(crashwindow, tmp_path):
            life = crashwindow.start(time.sleep, 600)
            (tmp_path.parent / "pid").write_text(str(life.pid))
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)

        def test_next(crashwindow):
            assert crashwindow.run(int).value == 0
        """
    )
    result = pytester.runpytest_subprocess("--basetemp=base", "-p", "no:randomly")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*guard process*killed from outside*"])
    pid = Path(pytester.path, "base", "pid").read_text()
    wait_until(lambda: not _runs(pid), "the life's end")


def _runs(pid: str) -> bool:
    """A dead process that its new parent hasn't reaped doesn't run."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_wait_of_the_test_takes_no_life_for_dead(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os, time

        def test_wait(crashwindow):
            life = crashwindow.start(time.sleep, 0)
            os.waitpid(life.pid, 0)
            assert life.wait().outcome == "returned"
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
