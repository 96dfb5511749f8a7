"""Windows in JUnit XML: a testcase each, with properties."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from .conftest import Run
from .sweeping import WORK


@pytest.mark.parametrize("workers", ["alone", "two"])
def test_each_window_is_a_testcase_with_properties(run: Run, pytester: pytest.Pytester, workers: str) -> None:
    if workers == "two":
        pytester.makepyfile(test_it=WORK)
        pytester.runpytest_subprocess("-p", "no:randomly", "-p", "no:asyncio", "-n2", "--junitxml=j.xml")
    else:
        run(WORK, "--junitxml=j.xml")
    suite = ElementTree.parse(pytester.path / "j.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert sorted(cases) == ["test_work", *(f"test_work[work.{point}+1:crash]" for point in "abc")]
    failed = cases["test_work[work.b+1:crash]"]
    assert failed.get("classname") == "test_it"
    assert float(failed.get("time", "0")) > 0
    assert [(p.get("name"), p.get("value")) for p in failed.iter("property")] == [
        ("crashwindow_window", "work.b+1:crash"),
        ("crashwindow_fault", "crash"),
        ("crashwindow_verdict", "failed"),
    ]
    assert failed.find("failure") is not None
    assert cases["test_work[work.a+1:crash]"].find("failure") is None
    verdicts = [p.get("value") for p in cases["test_work"].iter("property") if p.get("name") == "crashwindow_verdict"]
    assert verdicts == ["failed"]


def test_a_test_that_arms_a_fault_has_the_same_properties(run: Run, pytester: pytest.Pytester) -> None:
    run(
        """
        import sys, pytest

        @pytest.mark.crash_at("work.done")
        def test_work(crashwindow):
            assert crashwindow.run(sys.audit, "work.done").crashed
        """,
        "--junitxml=j.xml",
    )
    (case,) = ElementTree.parse(pytester.path / "j.xml").getroot()[0].iter("testcase")
    assert {p.get("name"): p.get("value") for p in case.iter("property")} == {
        "crashwindow_window": "work.done+1:crash",
        "crashwindow_fault": "crash",
        "crashwindow_verdict": "passed",
    }
