"""Code that is tested from another place (installed, or beside the root) has known points as well."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_points_of_imported_modules_are_known(pytester: pytest.Pytester, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "far_shop.py").write_text("import sys\n\ndef pay(): sys.audit('far_shop.refunded')\n")
    pytester.makeconftest(f"import sys\nsys.path.insert(0, {str(elsewhere)!r})\n")
    pytester.makepyfile(
        """
        import sys
        import far_shop
        import pytest

        @pytest.mark.crash_at("far_shop.refunded")
        def test_never(crashwindow):
            crashwindow.run(sys.audit, "far_shop.paid")

        @pytest.mark.crash_at("far_shop.refnded")
        def test_typo(crashwindow):
            crashwindow.run(sys.audit, "far_shop.paid")
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["*crash_at('far_shop.refunded') never fired*", "*unknown point 'far_shop.refnded'*'far_shop.refunded'*"]
    )
