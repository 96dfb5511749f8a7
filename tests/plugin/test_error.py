"""`error`: the caller gets an exception and the call doesn't happen."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from .conftest import Run
from .sweeping import outcomes


def write(effects: Any, text: str = "") -> str:
    effects.record("write", text)
    return "written"


class NeedsTwo(Exception):
    def __init__(self, code: int, text: str) -> None:
        super().__init__(code, text)
        self.code = code


WRITE = f"{__name__}:write"


def test_it_finds_a_swallowed_failure_and_passes_code_that_keeps_the_job(run: Run) -> None:
    result = run(
        """
        import pytest

        def deliver(effects):
            effects.record("delivered")

        def forgets(queue, effects):
            queue.unlink()
            try:
                deliver(effects)
            except OSError:
                pass

        def keeps(queue, effects):
            try:
                deliver(effects)
            except OSError:
                return
            queue.unlink()

        @pytest.mark.error_at("test_it:deliver", ConnectionError)
        @pytest.mark.parametrize("worker", [forgets, keeps])
        def test_delivered_or_kept(crashwindow, tmp_path, worker):
            (tmp_path / "job").touch()
            crashwindow.run(worker, tmp_path / "job", crashwindow.effects)
            assert (tmp_path / "job").exists() or crashwindow.effects.count("delivered")
        """
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_delivered_or_kept[[]forgets[]]*", "*>> error at test_it:deliver:enter+1*"])


@pytest.mark.error_at(WRITE, OSError(28, "No space left on device"))
def test_the_call_does_not_happen(crashwindow: Any) -> None:
    life = crashwindow.run(write, crashwindow.effects)
    assert crashwindow.effects.count("write") == 0
    assert life.hits == [f"{WRITE}:enter+1"]
    with pytest.raises(OSError, match="No space left on device") as caught:
        _ = life.value
    assert caught.value.errno == 28


@pytest.mark.error_at("shop.paid", ValueError)
def test_at_an_audit_event_it_is_raised_there_with_a_text_that_names_the_point(crashwindow: Any) -> None:
    life = crashwindow.run(sys.audit, "shop.paid")
    assert isinstance(life.error, ValueError)
    assert str(life.error) == "crashwindow: error at shop.paid+1"


@pytest.mark.error_at(WRITE, KeyboardInterrupt)
def test_the_exception_may_be_any_base_exception(crashwindow: Any) -> None:
    assert isinstance(crashwindow.run(write, crashwindow.effects).error, KeyboardInterrupt)


@pytest.mark.error_at(WRITE, NeedsTwo(7, "teapot"))
def test_an_instance_is_raised_as_it_is_for_classes_that_want_arguments(crashwindow: Any) -> None:
    assert crashwindow.run(write, crashwindow.effects).error.code == 7


@pytest.mark.error_at(WRITE, OSError, nth=None)
def test_the_broker_is_down_for_every_life(crashwindow: Any) -> None:
    for _ in range(2):
        assert isinstance(crashwindow.run(write, crashwindow.effects).error, OSError)
    assert crashwindow.effects.count("write") == 0


@pytest.mark.error_at(WRITE, OSError)
def test_a_retry_gets_through(crashwindow: Any) -> None:
    def retries() -> str:
        try:
            return write(crashwindow.effects)
        except OSError:
            return write(crashwindow.effects)

    assert crashwindow.run(retries).value == "written"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            "'nosuch:Name'",
            "*'nosuch:Name' can't be imported: ModuleNotFoundError: No module named 'nosuch'",
        ),
        (
            "'os:strerror'",
            "*an exception is a class, *, not <built-in function strerror>",
        ),
        (
            "'json:JSONDecodeError'",
            "*missing 3 required *: give an instance instead of the class",
        ),
    ],
)
def test_an_exception_that_cannot_be_made_is_no_pass_whatever_the_code_catches(run: Run, error: str, text: str) -> None:
    source = f"""
        import sys, pytest

        def pays():
            try:
                sys.audit("shop.paid")
            except Exception:
                pass

        @pytest.mark.crash_windows(error={{"shop.paid": {error}}})
        def test_paid(crashwindow):
            crashwindow.run(pays)
        """
    result = run(source)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*unattributed death*The plugin ended it; stderr says why.*", text])


IN_PLACE = """
import json, pytest

def in_place(file, settings):
    with open(file, "w") as out:
        json.dump(settings, out)

def beside(file, settings):
    with open(f"{file}.new", "w") as out:
        json.dump(settings, out)
    (file.parent / f"{file.name}.new").replace(file)

@pytest.mark.parametrize("save", [in_place, beside])
@pytest.mark.crash_windows(error={"file.write": OSError(28, "No space left on device")})
def test_save(crashwindow, tmp_path, save):
    file = tmp_path / "settings.json"
    file.write_text("{}")
    crashwindow.run(save, file, {"colour": "red"}).outcome
    assert json.loads(file.read_text()) in ({}, {"colour": "red"})
"""


def test_a_file_that_refused_a_write_refuses_what_its_buffer_kept(run: Run) -> None:
    """As on a full disk: what could not be written is not written when the file is closed."""
    result = run(IN_PLACE, "-v")
    assert outcomes(result) == {
        "test_save[in_place-file.write:enter+1:error]": "FAILED",
        "test_save[in_place]": "FAILED",
        "test_save[beside-file.write:enter+1:error]": "PASSED",
        "test_save[beside]": "PASSED",
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("'sqlite3:OperationalEror'", "*sqlite3 has no OperationalEror; did you mean 'sqlite3:OperationalError'?"),
        ("'sqlite3.OperationalError'", "*is 'module:Name', here 'sqlite3:OperationalError', not *"),
        ("'ValueError'", "*is 'module:Name', here 'builtins:ValueError', not *"),
    ],
)
def test_a_misspelt_exception_is_told_before_anything_runs(run: Run, given: str, said: str) -> None:
    source = f"""
        import sqlite3, pytest

        @pytest.mark.error_at("sqlite3.commit", {given})
        def test_it(crashwindow):
            assert False, "not reached"
        """
    result = run(source)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([said])
