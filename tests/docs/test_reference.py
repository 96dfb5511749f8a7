"""What the reference names exists in the code, and what the code has is in the reference."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

import pytest_crashwindow
from pytest_crashwindow import CrashWindow, Life, faults, hookspecs, plugin, probes, settings
from sample_app.states import FINAL, MOVES

sys.path.insert(0, str(Path(__file__).parent))
import pages

REFERENCE = pages.ROOT / "docs" / "reference"
FOR_THE_PLUGIN = {
    *(
        "directory",
        "plan",
        "prepare_lives",
        "restore_state",
        "targets",
        "enter_world",
        "leave_world",
        "unfired_in_setup",
        "death_was_told",
        "close",
    ),
    *("dump_stacks", "retire", "stacks", "timeout_text", "timeout_was_seen", "now", "raised", "raised_unseen"),
    "wait_if_dying",
}
"""members that tests have no use for"""
_CODE = re.compile(r"`([^`]+)`")


def page(name: str) -> str:
    return (REFERENCE / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """From a heading to the next one that isn't below it."""
    level = heading.split()[0]
    after = text[text.index(f"{heading}\n") + len(heading) :]
    end = re.search(rf"^#{{1,{len(level)}}} ", after, re.MULTILINE)
    return after[: end.start()] if end else after


def column(text: str, number: int = 0) -> list[str]:
    """The code in one column of all tables."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    return [code for row in rows if len(row) > number for code in _CODE.findall(row[number])]


def names(codes: list[str]) -> set[str]:
    return {code.partition("(")[0] for code in codes}


def test_markers() -> None:
    told = {code for line in page("markers.md").splitlines() for code in _CODE.findall(line) if "(" in code}
    signatures = {marker.partition("):")[0] + ")" for marker in plugin.MARKERS}
    assert signatures <= told
    assert {f"{fault.name}_at" for fault in faults.BUILT_IN} == names(column(page("markers.md"))) & {
        code.partition("(")[0] for code in signatures
    }


def test_arguments_of_the_sweep() -> None:
    sweep = next(marker for marker in plugin.MARKERS if marker.startswith("crash_windows"))
    arguments = set(re.findall(r"(\w+)=", sweep.partition("):")[0]))
    assert names(column(section(page("markers.md"), "## Every window"))) == arguments


@pytest.mark.parametrize(
    ("kind", "heading"), [(CrashWindow, "## Members"), (Life, "## A life")], ids=["CrashWindow", "Life"]
)
def test_members(kind: type, heading: str) -> None:
    text = section(page("fixture.md"), heading)
    told = names(column(text))
    source = inspect.getsource(kind)
    attributes = {name for name in re.findall(r"self\.(\w+)(?:: .+)? = ", source) if not name.startswith("_")}
    attributes |= {"directory", "plan"} if kind is CrashWindow else set()
    members = {name for name in vars(kind) if not name.startswith("_")} | attributes
    assert told == members - FOR_THE_PLUGIN


def test_options() -> None:
    text = page("options.md")
    flags = {code.partition("=")[0] for code in column(text, 0)}
    wanted = {f"--crashwindow-{o.name.replace('_', '-')}" for o in settings.OPTIONS if o.flag}
    assert flags == wanted
    assert set(column(text, 1)) == {f"crashwindow_{o.name}" for o in settings.OPTIONS}
    assert set(column(text, 2)) == {f"CRASHWINDOW_{o.name.upper()}" for o in settings.OPTIONS}


def test_defaults() -> None:
    rows = [line.split("|")[1:-1] for line in page("options.md").splitlines() if line.startswith("| ")][1:]
    told = {row[1].strip(" `"): row[3].strip() for row in rows}
    for option in settings.OPTIONS:
        assert told[f"crashwindow_{option.name}"] == shown(option), option.name


def shown(option: settings.Option) -> str:
    """A default as the table has it."""
    if isinstance(option.default, bool):
        return str(option.default).lower()
    if isinstance(option.default, int | float):
        return f"{option.default:g}"
    return "all" if option.name == "probes" else option.default or ""


def test_hooks() -> None:
    assert names(column(page("hooks.md").partition("## Public names")[0])) == {
        name for name in vars(hookspecs) if name.startswith("pytest_")
    }


def test_hook_arguments() -> None:
    for code in column(page("hooks.md").partition("## Public names")[0]):
        function = getattr(hookspecs, code.partition("(")[0])
        assert code == f"{function.__name__}({', '.join(inspect.signature(function).parameters)})"


def test_public_names() -> None:
    told = set(_CODE.findall(section(page("hooks.md"), "## Public names"))) - {"pytest_crashwindow"}
    assert set(pytest_crashwindow.__all__) <= told
    errors = names(column(section(page("hooks.md"), "## Public names")))
    assert errors <= set(pytest_crashwindow.__all__)


def test_faults() -> None:
    text = page("faults.md")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| `")]
    told = {row[0].strip(" `"): row[3] for row in rows}
    assert list(told) == [fault.name for fault in faults.BUILT_IN]
    for fault in faults.BUILT_IN:
        ends = "both" if len(fault.ends) == 2 else f"`:{fault.ends[0]}`"
        assert told[fault.name].strip() == ends


def test_probes_and_their_points() -> None:
    text = section(page("points.md"), "## Probes")
    assert column(text, 0) == [probe.name for probe in probes.BUILT_IN]
    assert set(column(text, 1)) == {call for probe in probes.BUILT_IN for call in probe.calls}


def test_verdicts() -> None:
    code = "".join(p.read_text() for p in (pages.ROOT / "pytest_crashwindow").glob("*.py"))
    for verdict in column(page("verdicts.md")):
        assert f'"{verdict}"' in code or (verdict == "control failed" and '"control "' in code), verdict


def test_states_of_the_sample_app() -> None:
    text = (pages.ROOT / "docs" / "explanation" / "sample-app.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^    (\w+) --> (\w+): (\w+)$", text, re.MULTILINE))
    assert told == {(source, move.to, name) for name, move in MOVES.items() for source in move.sources}
    assert {name: move.who for name, move in MOVES.items()} == dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.M))
    assert {source for source, _, _ in told} & FINAL == {"dead"}
