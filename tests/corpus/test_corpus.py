"""Small programs with exactly one known hole each, and their correct twins: no miss and no false alarm."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .conftest import NAMES, WAYS, Sweeps, case

pytestmark = [pytest.mark.parametrize("name", NAMES), pytest.mark.parametrize("way", WAYS)]

Corpus = Callable[[str], Sweeps]


def test_the_hole_is_found_in_its_windows_and_in_no_others(corpus: Corpus, way: str, name: str) -> None:
    sweep = corpus(way)[name, "broken"]
    assert sweep.failed == case(name).FAILS, sweep.text
    assert {sweep.verdicts[window] for window in sweep.failed} == {"failed"}, sweep.text
    assert sweep.outcome == "failed"


def test_the_correct_twin_is_green_in_windows_of_every_fault(corpus: Corpus, way: str, name: str) -> None:
    sweep = corpus(way)[name, "correct"]
    assert sweep.failed == set(), sweep.text
    assert sweep.outcome == "passed", sweep.text
    faults = set(case(name).MARKER) - {"depth"} or {"crash"}
    assert {window.rpartition(":")[2] for window in sweep.windows} == faults


def test_every_way_has_the_same_windows(corpus: Corpus, way: str, name: str) -> None:
    for form in ("broken", "correct"):
        assert corpus(way)[name, form].windows == corpus("alone")[name, form].windows
