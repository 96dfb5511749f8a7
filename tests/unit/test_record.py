"""Traces and records of faults: appended by many processes, read after any death."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from pytest_crashwindow.ledger import Ledger
from pytest_crashwindow.record import ARMED, POINT, Fired, FiredRecords, Trace, line, read_trace, summary

WHO = "life\t1\t2"


def fired(index: int = 0, at: int = 1) -> Fired:
    return Fired(index, "crash", "a", 1, "", "life", 1, 2, at, (("f.py", 3, "f"),))


def test_hits_are_numbered_for_each_point(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    for point in ("a", "b", "a"):
        trace.append(line(5, WHO, point, "", "'x'"))
    assert [str(hit) for hit in read_trace(tmp_path / "trace")] == ["a+1", "b+1", "a+2"]
    [first, *_] = read_trace(tmp_path / "trace")
    assert (first.life, first.pid, first.thread, first.at, first.arguments) == ("life", 1, 2, 5, "'x'")


def test_no_trace_is_no_hits(tmp_path: Path) -> None:
    assert read_trace(tmp_path / "trace") == []


def test_a_line_cut_short_by_a_death_is_left_out(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "trace")
    trace.append(line(5, WHO, "a", "", ""))
    whole = line(6, WHO, "a", "", "'x'")
    for end in range(len(whole)):
        trace.append(whole[:end])
    assert trace.append_counted(line(7, WHO, "a", "", ""), [(POINT, "a")]) == [2]
    assert [(str(hit), hit.at) for hit in read_trace(tmp_path / "trace")] == [("a+1", 5), ("a+2", 7)]


def test_an_entry_of_a_ledger_that_is_cut_short_by_a_death_spoils_no_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.append({"n": 1})
    whole = (tmp_path / "ledger").read_bytes()
    with open(tmp_path / "ledger", "ab") as file:
        for end in range(len(whole)):
            file.write(whole[:end])
    ledger.append(12.5)
    with open(tmp_path / "ledger", "ab") as file:
        file.write(b"\n12")  # of 12.5
    assert ledger.entries() == [{"n": 1}, 12.5]


def test_appending_counts_lines_of_all_processes(tmp_path: Path) -> None:
    one, other = Trace(tmp_path / "trace"), Trace(tmp_path / "trace")
    counts = [
        trace.append_counted(line(5, WHO, point, armed, ""), [(POINT, point), (ARMED, "0")])
        for trace, point, armed in ((one, "a", "0"), (other, "a", ""), (other, "b", "0,1"), (one, "a", "0"))
    ]
    assert counts == [[1, 1], [2, 1], [1, 2], [3, 3]]


def test_every_passing_has_a_number_of_its_own(tmp_path: Path) -> None:
    """Four threads in each of two processes: no number is given twice, none is left out."""
    trace = Trace(tmp_path / "trace")

    def pass_often(numbers: list[int]) -> None:
        for _ in range(50):
            numbers += trace.append_counted(line(5, WHO, "a", "", ""), [(POINT, "a")])

    def in_threads() -> list[int]:
        numbers: list[int] = []
        threads = [threading.Thread(target=pass_often, args=(numbers,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return numbers

    children = []
    for name in ("one", "other"):
        child = os.fork()
        if child == 0:
            trace.reopen()
            (tmp_path / name).write_text(" ".join(map(str, in_threads())))
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    told = (tmp_path / "one").read_text().split() + (tmp_path / "other").read_text().split()
    assert sorted(map(int, told)) == list(range(1, 401))


def test_a_record_can_be_claimed_once(tmp_path: Path) -> None:
    assert FiredRecords(tmp_path).claim("0", fired())
    assert not FiredRecords(tmp_path).claim("0", fired())
    assert FiredRecords(tmp_path).read() == [fired()]


def test_records_are_read_in_the_order_of_firing(tmp_path: Path) -> None:
    records = FiredRecords(tmp_path)
    records.claim("1", fired(1, at=20))
    records.claim("0.1", fired(0, at=10))
    assert [one.index for one in records.read()] == [0, 1]
    assert records.has_fired(0)
    assert records.has_fired(1)
    assert not records.has_fired(2)


def test_a_record_cut_short_counts_as_not_written(tmp_path: Path) -> None:
    (tmp_path / "0").write_text('{"index": 0, "fau')
    assert FiredRecords(tmp_path).read() == []


class Hostile:
    def __repr__(self) -> str:
        raise AssertionError("user code was run")

    __str__ = __repr__


def test_a_summary_runs_no_code_of_the_arguments() -> None:
    assert summary(["o-1", 7, None, b"x", Path("/a"), Hostile()]) == "'o-1', 7, None, b'x', '/a', <Hostile>"


def test_a_summary_is_one_short_line() -> None:
    assert summary(["a\nb\tc"]) == r"'a\nb\tc'"
    assert len(summary(["x" * 1000])) == 200
