"""A misspelt `crash_at=` of one life is an error, and doesn't go to the target unseen."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("parameters", "keyword", "refused"),
    [
        ("", "crush_at", "did you mean 'crash_at'"),
        ("**row", "crush_at", "did you mean 'crash_at'"),
        ("", "power_lost_at", "neither a fault nor an argument"),
        ("**row", "created_at", ""),
        ("created_at", "created_at", ""),
        ("crush_at", "crush_at", ""),
    ],
)
def test_a_keyword_that_ends_like_a_fault(
    pytester: pytest.Pytester, parameters: str, keyword: str, refused: str
) -> None:
    pytester.makepyfile(
        f"""
        def work({parameters}):
            pass

        def test_it(crashwindow):
            crashwindow.run(work, {keyword}="shop.paid")
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=bool(refused), passed=not refused)
    if refused:
        result.stdout.fnmatch_lines([f"*{keyword}: *{refused}*"])
