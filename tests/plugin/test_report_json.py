"""`--crashwindow-report=x.json`: what is in it, whoever ran the windows and however the run ended."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Run
from .reporting import read, verdicts
from .sweeping import WORK

SHOP = """
import sys, pytest

def place(path, effects):
    (path / "order").touch()
    sys.audit("shop.placed", "o-1")
    effects.record("mail", "o-1")
    print("mail sent")
    sys.audit("shop.mailed", "o-1")

@pytest.mark.crash_windows("shop.*", pause="shop.placed")
def test_one_mail(crashwindow, tmp_path):
    crashwindow.supervise(place, tmp_path, crashwindow.effects)
    crashwindow.observe("orders", [{"id": "o-1", "there": (tmp_path / "order").exists()}])
    assert crashwindow.effects.keys("mail") == ["o-1"]
"""
ALL = {
    "shop.placed+1:crash": "passed",
    "shop.placed+1:pause": "failed",
    "shop.mailed+1:crash": "failed",
}


@pytest.fixture
def shop(run: Run, pytester: pytest.Pytester) -> dict[str, Any]:
    run(SHOP, "--crashwindow-report=x.json")
    return read(pytester.path / "x.json")


def test_it_has_all_windows_in_order_and_totals(shop: dict[str, Any]) -> None:
    (test,) = shop["tests"]
    assert test["test"] == "test_it.py::test_one_mail"
    assert verdicts(test) == ALL
    assert list(verdicts(test)) == list(ALL)
    assert (test["known"], test["explored"], test["verdict"], test["stopped"]) == (3, 3, "failed", "")
    assert shop["totals"]["passed"] == 1
    assert shop["totals"]["failed"] == 2
    assert shop["totals"]["verdicts"] == {"passed": 1, "failed": 2}
    assert shop["run"]["interrupted"] == ""
    assert shop["run"]["exitstatus"] == 1


def test_a_failed_window_tells_its_story(shop: dict[str, Any]) -> None:
    window = shop["tests"][0]["windows"][2]
    assert window["steps"] == [{"point": "shop.mailed", "hit": 1, "fault": "crash"}]
    assert window["rerun"] == "pytest 'test_it.py::test_one_mail[shop.mailed+1:crash]'"
    assert window["message"].startswith("AssertionError: assert ['o-1', 'o-1'] == ['o-1']")
    assert "def test_one_mail" in window["failure"]
    assert [(e["kind"], e["life"], e["name"]) for e in window["timeline"] if not e["name"].startswith("open:")] == [
        ("started", "place", ""),
        ("point", "place", "shop.placed+1"),
        ("effect", "", "mail"),
        ("point", "place", "shop.mailed+1"),
        ("fault", "place", "crash at shop.mailed+1"),
        ("ended", "place", "crashed"),
        ("started", "place-2", ""),
        ("point", "place-2", "shop.placed+2"),
        ("effect", "", "mail"),
        ("point", "place-2", "shop.mailed+2"),
        ("ended", "place-2", "returned"),
        ("observed", "", "orders"),
    ]
    assert window["timeline"][-1]["detail"] == [{"id": "o-1", "there": True}]
    times = [entry["ms"] for entry in window["timeline"]]
    assert times == sorted(times)
    assert window["output"][-1] == {"life": "place-2", "stdout": "mail sent\n", "stderr": ""}


def test_a_fault_names_the_line_where_it_struck_and_what_is_around(shop: dict[str, Any]) -> None:
    (fired,) = shop["tests"][0]["windows"][2]["fired"]
    source = fired["source"]
    assert (source["file"], source["function"]) == ("test_it.py", "place")
    assert source["lines"][source["line"] - source["first"]] == '    sys.audit("shop.mailed", "o-1")'
    assert fired["frames"][0]["function"] == "place"
    assert not any("_pytest" in frame["file"] for frame in fired["frames"])


def test_the_control_is_told_as_well(shop: dict[str, Any]) -> None:
    control = shop["tests"][0]["control"]
    assert [entry["name"] for entry in control if entry["kind"] == "effect"] == ["mail"]
    assert [entry["kind"] for entry in control].count("fault") == 0


def test_files_are_named_from_the_root_on(shop: dict[str, Any], pytester: pytest.Pytester) -> None:
    assert not any(str(pytester.path) in str(window["timeline"]) for window in shop["tests"][0]["windows"])


def test_nested_windows_have_all_their_steps(run: Run, pytester: pytest.Pytester) -> None:
    run(WORK, "--crashwindow-report=x.json", "--crashwindow-depth=2")
    (test,) = read(pytester.path / "x.json")["tests"]
    deep = [window for window in test["windows"] if len(window["steps"]) == 2]
    assert deep
    assert all(window["window"].count("/") == 1 for window in deep)
    assert deep[0]["steps"][0]["point"] == "work.a"


def test_with_two_workers_it_is_written_once_and_says_the_same(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_it=SHOP)
    result = pytester.runpytest_subprocess("-n2", "--crashwindow-report=x.json")
    (test,) = read(pytester.path / "x.json")["tests"]
    assert list(verdicts(test).items()) == list(ALL.items())
    assert all(window["timeline"] for window in test["windows"])
    assert test["control"]
    assert result.stdout.str().count("report in x.json") == 1
    assert [path.name for path in pytester.path.glob("*x.json*")] == ["x.json"]


INTERRUPTS = """
    import pytest

    def pytest_configure(config):
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(Interrupts())

    class Interrupts:
        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logreport(self, report):
            if report.nodeid.endswith("work.b+1:crash]") and report.when == "teardown":
                raise KeyboardInterrupt
"""


def test_after_ctrl_c_it_has_what_was_done(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(INTERRUPTS)
    result = run(WORK, "--crashwindow-report=x.json", "--crashwindow-report=x.md")
    doc = read(pytester.path / "x.json")
    (test,) = doc["tests"]
    assert verdicts(test) == {"work.a+1:crash": "passed", "work.b+1:crash": "failed"}
    assert (test["known"], test["explored"]) == (3, 2)
    assert test["stopped"] == "the run ended before the sweep did"
    assert doc["run"]["interrupted"] == "interrupted"
    told = "*test_it.py::test_work: explored 2 of 3 windows (the run ended before the sweep did), 1 failed"
    result.stdout.fnmatch_lines(["=* crash windows =*", told, "1 sweep: 3 windows exist, 2 explored, *"])
    headline = "## ❌ Crash windows: 1 of 2 failed, explored 2 of 3\n"
    assert (pytester.path / "x.md").read_text().startswith(headline)


def test_after_ctrl_c_windows_behind_others_count_as_well(run: Run, pytester: pytest.Pytester) -> None:
    run(WORK, "--crashwindow-depth=2", "--crashwindow-report=whole.json")
    pytester.makeconftest(INTERRUPTS)
    run(WORK, "--crashwindow-depth=2", "--crashwindow-report=x.json")
    whole, cut = (read(pytester.path / name)["tests"][0] for name in ("whole.json", "x.json"))
    assert len(cut["windows"]) < cut["known"] <= whole["known"]


@pytest.mark.parametrize("interrupted", ["alone", "two workers"])
def test_after_ctrl_c_among_many_windows(run: Run, pytester: pytest.Pytester, interrupted: str) -> None:
    if interrupted == "two workers":
        pytest.importorskip("xdist")
    pytester.makeconftest(INTERRUPTS)
    points = "".join(f"    sys.audit('work.p{n}')\n" for n in range(20))
    pytester.makepyfile(
        test_it=f"import sys, pytest\n\ndef work():\n    sys.audit('work.b')\n{points}\n"
        "@pytest.mark.crash_windows\ndef test_work(crashwindow):\n    crashwindow.supervise(work)\n"
    )
    workers = ["-n2"] if interrupted == "two workers" else []
    result = pytester.runpytest_subprocess(*workers, "-pno:randomly", "--crashwindow-report=x.json")
    (test,) = read(pytester.path / "x.json")["tests"]
    assert (test["known"], test["verdict"]) == (21, "incomplete")
    assert 0 < test["explored"] == len(test["windows"]) < 21
    result.stdout.fnmatch_lines(
        [
            f"*test_it.py::test_work: explored {test['explored']} of 21 windows (the run ended before the sweep did), "
            f"{test['explored']} passed"
        ]
    )


def test_after_minus_x_it_has_what_was_done(run: Run, pytester: pytest.Pytester) -> None:
    run(WORK, "-x", "--crashwindow-report=x.json")
    doc = read(pytester.path / "x.json")
    (test,) = doc["tests"]
    assert verdicts(test) == {"work.a+1:crash": "passed", "work.b+1:crash": "failed"}
    assert (test["known"], test["verdict"]) == (3, "failed")
    assert "1 failures" in test["stopped"]
    assert "failures" in doc["run"]["interrupted"]


WORKER_DIES = """
    import os

    def pytest_crashwindow_fired(item, window):
        if str(window).startswith("work.b") and hasattr(item.config, "workerinput"):
            os._exit(9)
"""


@pytest.mark.parametrize("restarts", ["0", "4"])
def test_after_the_death_of_a_worker_it_is_valid(pytester: pytest.Pytester, restarts: str) -> None:
    pytest.importorskip("xdist")
    pytester.makeconftest(WORKER_DIES)
    pytester.makepyfile(test_it=WORK)
    result = pytester.runpytest_subprocess("-n2", f"--max-worker-restart={restarts}", "--crashwindow-report=x.json")
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    for test in read(pytester.path / "x.json")["tests"]:
        assert verdicts(test).get("work.b+1:crash") in (None, "error")
        assert test["verdict"] != "passed"


def test_a_window_that_was_asked_for_by_its_id(run: Run, pytester: pytest.Pytester) -> None:
    run(WORK, "test_it.py::test_work[work.b+1:crash]", "--crashwindow-report=x.json")
    (test,) = read(pytester.path / "x.json")["tests"]
    assert (test["test"], test["kind"], test["stopped"]) == ("test_it.py::test_work", "sweep", "windows by id")
    assert verdicts(test) == {"work.b+1:crash": "failed"}


def test_a_test_that_arms_by_name_is_there_with_what_fired(run: Run, pytester: pytest.Pytester) -> None:
    run(
        """
        import sys, pytest

        @pytest.mark.crash_at("shop.a")
        def test_armed(crashwindow):
            assert crashwindow.run(sys.audit, "shop.a").crashed

        def test_no_fault(crashwindow):
            assert crashwindow.run(sys.audit, "shop.a").outcome == "returned"
        """,
        "--crashwindow-report=x.json",
    )
    (test,) = read(pytester.path / "x.json")["tests"]
    assert (test["test"], test["kind"], test["verdict"]) == ("test_it.py::test_armed", "armed", "passed")
    assert verdicts(test) == {"shop.a+1:crash": "passed"}


def test_expected_failures_and_controls_that_fail(run: Run, pytester: pytest.Pytester) -> None:
    run(
        WORK.replace("@pytest.mark.crash_windows", "@pytest.mark.xfail(reason='known')\n@pytest.mark.crash_windows")
        + """
@pytest.mark.crash_windows
def test_fails(crashwindow, tmp_path):
    crashwindow.supervise(work, tmp_path)
    assert False
""",
        "--crashwindow-report=x.json",
    )
    work, fails = read(pytester.path / "x.json")["tests"]
    assert [window["outcome"] for window in work["windows"]] == ["passed", "xfailed", "passed"]
    assert work["windows"][1]["reason"] == "known"
    assert (fails["verdict"], fails["windows"]) == ("control failed", [])


UNSWEPT = """
import sys, time, pytest

sweep = pytest.mark.crash_windows("work.*")

def work():
    sys.audit("work.a")

@sweep
def test_fails(crashwindow):
    crashwindow.run(work)
    assert "seen" == "nothing"

@sweep
def test_passes_no_point(crashwindow):
    pass

@sweep
def test_is_unsteady(crashwindow):
    crashwindow.run(sys.audit, f"work.{time.time_ns()}")

@sweep
@pytest.mark.timeout(1)
def test_hangs(crashwindow):
    crashwindow.run(work)
    time.sleep(60)

@sweep
def test_is_skipped(crashwindow):
    pytest.skip("no server here")

@pytest.fixture
def broken():
    raise ValueError("no port")

@sweep
def test_has_no_fixture(crashwindow, broken):
    pass

@sweep
def test_is_swept(crashwindow):
    crashwindow.supervise(work)
"""


@pytest.fixture
def unswept(run: Run, pytester: pytest.Pytester) -> dict[str, Any]:
    run(UNSWEPT, "--crashwindow-report=x.json", "--crashwindow-report=x.md", "--crashwindow-report=x.html")
    doc = read(pytester.path / "x.json")
    return {test["test"].partition("::test_")[2]: test for test in doc["tests"]} | {"totals": doc["totals"]}


def test_why_a_test_was_not_swept(unswept: dict[str, Any], pytester: pytest.Pytester) -> None:
    why = {name: (test["verdict"], test["message"]) for name, test in unswept.items() if name != "totals"}
    assert why.pop("is_unsteady")[1].startswith("unsteady control: two runs without any fault differ: 'work.")
    assert why.pop("hangs") == (
        "control hung",
        "Timeout: the test body took longer than its limit of 1 s (pytest-timeout).",
    )
    assert why.pop("passes_no_point")[1].startswith("the control passed no point, so there is no window to try")
    assert why.pop("fails")[1].startswith("AssertionError: assert 'seen' == 'nothing'")
    assert why == {
        "is_skipped": ("skipped", "no server here"),
        "has_no_fixture": ("error", "ValueError: no port"),
        "is_swept": ("passed", ""),
    }
    assert unswept["totals"]["unswept"] == 6
    assert 'assert "seen" == "nothing"' in unswept["fails"]["failure"]
    for name in ("fails", "hangs", "is_unsteady"):
        assert "started" in [entry["kind"] for entry in unswept[name]["control"]], name
    markdown = (pytester.path / "x.md").read_text()
    assert markdown.startswith("## ❌ Crash windows: 6 tests not swept, 1 of 1 passed\n")


def test_an_error_in_a_hook_is_told_by_its_exception(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_crashwindow_windows(item, windows): raise KeyError('mine')")
    run(WORK, "--crashwindow-report=x.json")
    (test,) = read(pytester.path / "x.json")["tests"]
    assert (test["verdict"], test["message"]) == ("error", "KeyError: 'mine'")


def test_a_failed_window_has_its_hint(shop: dict[str, Any]) -> None:
    hints = {window["window"]: window["hint"] for window in shop["tests"][0]["windows"]}
    assert hints.pop("shop.mailed+1:crash") == {
        "text": "the effect had happened and nothing recorded it yet, so it was done again",
        "page": "docs/how-to/effect-and-commit.md",
    }
    assert set(hints.values()) == {None}


def test_any_text_and_number_can_be_observed(run: Run, pytester: pytest.Pytester) -> None:
    run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("x.*")
        def test_x(crashwindow):
            crashwindow.run(sys.audit, "x.a", "\\ud800")
            crashwindow.observe("odd", ["\\ud800", float("nan"), float("inf"), 2**70, b"x", {1: None}])
            assert crashwindow.window is None, "</script> \\ud800 \\x00"
        """,
        "--crashwindow-report=x.json",
        "--crashwindow-report=x.html",
        "--crashwindow-report=x.md",
    )
    (test,) = read(pytester.path / "x.json")["tests"]
    assert test["windows"][0]["timeline"][-1]["detail"] == [
        "\\ud800",
        "nan",
        "inf",
        "1180591620717411303424",
        "b'x'",
        {"1": None},
    ]


def test_a_long_timeline_keeps_everything_but_points_in_the_middle(run: Run, pytester: pytest.Pytester) -> None:
    run(
        """
        import sys, pytest

        def loop(effects):
            for n in range(600):
                sys.audit("x.turn", n)
            effects.record("done")
            sys.audit("x.end")

        @pytest.mark.crash_windows("x.end")
        def test_x(crashwindow):
            crashwindow.run(loop, crashwindow.effects)
        """,
        "--crashwindow-report=x.json",
    )
    timeline = read(pytester.path / "x.json")["tests"][0]["windows"][0]["timeline"]
    assert len(timeline) == 401
    (gap,) = [entry for entry in timeline if entry["kind"] == "left out"]
    assert gap["name"] == "205 points"
    assert [entry["kind"] for entry in timeline][-4:] == ["effect", "point", "fault", "ended"]
