"""A glob that also matches a generator tries there what makes sense for one, and nothing else."""

from __future__ import annotations

import pytest


def test_duplicate_and_lost_ack_pass_generators_by(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        feed="""
        def lines():
            yield "a"

        def send(line):
            return line
        """,
        test_feed="""
        import feed
        import pytest

        @pytest.mark.crash_windows(duplicate="feed:*", lost_ack="feed:*", calls=["feed:lines", "feed:send"])
        def test_feed(crashwindow):
            crashwindow.run(lambda: [feed.send(line) for line in feed.lines()])
        """,
    )
    result = pytester.runpytest_subprocess("-v", "-p", "no:randomly")
    result.stdout.fnmatch_lines(
        ["*feed:send:enter+1:duplicate] PASSED*", "*feed:send:exit+1:lost_ack] PASSED*", "*::test_feed PASSED*"]
    )
    result.assert_outcomes(passed=3)
