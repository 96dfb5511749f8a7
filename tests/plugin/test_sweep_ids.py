"""Windows: their ids, and the order in which they are tried."""

from __future__ import annotations

from .conftest import Run
from .sweeping import OF_WORK, WORK, outcomes, windows


def test_every_point_that_the_control_passed_is_a_window_in_that_order_and_the_sweep_is_last(run: Run) -> None:
    result = run(WORK, "-v")
    assert list(outcomes(result).items()) == list(OF_WORK.items())
    result.assert_outcomes(passed=2, failed=2)


def test_hits_are_counted_over_the_whole_world(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        @pytest.mark.crash_windows("work.*")
        def test_work(crashwindow):
            for point in ("work.b", "work.a", "work.b"):
                crashwindow.run(sys.audit, point)
        """,
        "-v",
    )
    assert windows(result) == ["work.b+1:crash", "work.a+1:crash", "work.b+2:crash"]
    result.assert_outcomes(passed=4)


def test_a_window_comes_after_the_parameters_of_its_test(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        class TestWork:
            @pytest.mark.crash_windows("work.*")
            @pytest.mark.parametrize("point", ["x-1", "y"])
            def test_it(self, crashwindow, point):
                crashwindow.run(sys.audit, "work." + point)
        """,
        "-v",
    )
    assert list(outcomes(result)) == [
        "test_it[x-1-work.x-1+1:crash]",
        "test_it[x-1]",
        "test_it[y-work.y+1:crash]",
        "test_it[y]",
    ]
    result.assert_outcomes(passed=4)


def test_an_odd_name_is_escaped_and_can_be_asked_for(run: Run) -> None:
    source = """
        import sys, pytest

        @pytest.mark.crash_windows("work *")
        def test_work(crashwindow):
            assert not crashwindow.run(sys.audit, "work (50% of [it])").crashed
        """
    (window,) = windows(run(source, "-v"))
    assert window == r"work\x20\x2850\x25\x20of\x20\x5bit\x5d\x29+1:crash"
    again = run(source, "-v", f"test_it.py::test_work[{window}]")
    assert list(outcomes(again).values()) == ["FAILED"]


def test_faults_of_one_point_come_one_after_another(run: Run) -> None:
    result = run(
        """
        import sys, pytest

        def work():
            sys.audit("work.a")
            sys.audit("work.b")

        @pytest.mark.crash_windows(pause="work.*", crash="work.*", delay={"work.b": 0.001})
        def test_work(crashwindow):
            crashwindow.run(work)
        """,
        "-v",
    )
    assert windows(result) == [
        "work.a+1:crash",
        "work.a+1:pause",
        "work.b+1:crash",
        "work.b+1:pause",
        "work.b+1:delay",
    ]


def test_exclusions_leave_windows_out(run: Run) -> None:
    result = run(WORK.replace('"work.*"', '["work.*", "!work.b"]'), "-v")
    assert windows(result) == ["work.a+1:crash", "work.c+1:crash"]
    result.assert_outcomes(passed=3)


def test_many_raw_writes_to_one_file_are_folded_unless_named(run: Run) -> None:
    source = """
        import os, pytest

        def write(path):
            with open(path, "wb", buffering=0) as file:
                for _ in range(9):
                    file.write(b"x")

        @pytest.mark.crash_windows(WHAT)
        def test_write(crashwindow, tmp_path):
            crashwindow.run(write, tmp_path / "file")
        """
    folded = windows(run(source.replace("WHAT", '"file.*"'), "-v"))
    assert folded == [f"file.write:{end}+{n}:crash" for n in (1, 9) for end in ("enter", "exit")]
    assert len(windows(run(source.replace("WHAT", '"file.write"'), "-v"))) == 18
