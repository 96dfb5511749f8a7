"""What outlives every life of a test: effects, the clock, durable state, observations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run


def sends(effects: Any, *keys: str) -> None:
    for key in keys:
        effects.record("mail", key)
    sys.audit("shop.sent")


@pytest.mark.crash_at("shop.sent")
def test_effects_survive_the_death_of_the_life_that_recorded_them(crashwindow: Any) -> None:
    assert crashwindow.run(sends, crashwindow.effects, "a", "b").crashed
    crashwindow.run(sends, crashwindow.effects, "a")
    effects = crashwindow.effects
    assert effects.count("mail") == 3
    assert effects.count("mail", "a") == 2
    assert effects.count("mail", "z") == 0
    assert effects.count("post") == 0
    assert effects.keys("mail") == ["a", "b", "a"]


def test_effects_are_recorded_in_the_test_as_well_and_keys_are_texts(crashwindow: Any) -> None:
    crashwindow.effects.record("charge", 7)
    crashwindow.effects.record("charge")
    assert crashwindow.effects.keys("charge") == ["7", ""]
    assert crashwindow.effects.count("charge", 7) == 1


def test_effects_begin_empty(crashwindow: Any) -> None:
    assert crashwindow.effects.all() == []
    assert crashwindow.effects.keys("mail") == []


def test_what_an_effect_is_called_may_be_any_text(crashwindow: Any) -> None:
    crashwindow.run(crashwindow.effects.record, "line\nbreak\t\u2028", "\ud800")
    assert crashwindow.effects.count("line\nbreak\t\u2028", "\ud800") == 1


def test_effects_of_processes_at_the_same_time_are_all_kept(crashwindow: Any) -> None:
    keys = [str(number) for number in range(200)]
    lives = [crashwindow.start(sends, crashwindow.effects, *keys) for _ in range(4)]
    for life in lives:
        life.wait()
    assert sorted(crashwindow.effects.keys("mail")) == sorted(keys * 4)


def test_an_effect_is_no_point(crashwindow: Any, tmp_path: Path) -> None:
    assert crashwindow.run(sends, crashwindow.effects, "a").hits == ["shop.sent+1"]


# -- clock ---------------------------------------------------------------------------------------


def test_the_clock_stands_until_the_test_moves_it(crashwindow: Any) -> None:
    clock = crashwindow.clock
    assert clock() == clock.now() == 0.0
    assert clock.advance(30) == 30.0
    assert crashwindow.run(clock.now).value == 30.0
    assert clock.advance(0.5) == 30.5


def test_a_life_that_runs_sees_it_move(crashwindow: Any) -> None:
    def two_looks() -> tuple[float, float]:
        first = crashwindow.clock()
        sys.audit("shop.between")
        return first, crashwindow.clock()

    life = crashwindow.run(two_looks, pause_at="shop.between")
    crashwindow.clock.advance(31)
    assert life.resume().value == (0.0, 31.0)


def test_a_life_may_move_it(crashwindow: Any) -> None:
    crashwindow.run(crashwindow.clock.advance, 5)
    assert crashwindow.clock() == 5.0


def test_many_small_steps_add_up_exactly(crashwindow: Any) -> None:
    for _ in range(10):
        crashwindow.clock.advance(0.1)
    assert crashwindow.clock() == 1.0


# -- state and observations ----------------------------------------------------------------------


def test_what_fixtures_put_into_state_is_there_and_what_lives_write_stays(crashwindow: Any, tmp_path: Path) -> None:
    (tmp_path / "seed").write_text("1")
    assert crashwindow.run((tmp_path / "seed").read_text).value == "1"
    crashwindow.run((tmp_path / "made").write_text, "2")
    assert (tmp_path / "made").read_text() == "2"


def test_state_gives_the_absolute_path(crashwindow: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert crashwindow.state("data") == tmp_path / "data"


def test_observations_effects_and_lives_are_told_in_the_timeline(run: Run) -> None:
    result = run(
        """
        import sys

        def works(effects):
            sys.audit("shop.begun", "o-1", 7)
            effects.record("mail", "o-1")

        def test_it(crashwindow):
            crashwindow.run(works, crashwindow.effects, crash_at="shop.never", name="A") if False else None
            crashwindow.run(works, crashwindow.effects, name="A")
            crashwindow.observe("rows", [("o-1", None, {1, }, object)])
            assert False
        """
    )
    result.stdout.fnmatch_lines(
        [
            "*- crashwindow timeline -*",
            "* ms  A  started (pid *)",
            "* ms  A  shop.begun+1 ('o-1', 7)",
            "* ms     effect mail o-1",
            "* ms  A  returned*",
            "* ms     observed rows = *o-1*",
        ]
    )


# -- window --------------------------------------------------------------------------------------


def test_outside_sweeps_there_is_no_window(crashwindow: Any) -> None:
    assert crashwindow.window is None
