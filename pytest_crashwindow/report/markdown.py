"""The Markdown report, for a CI job's summary or a comment on a pull request: what failed comes first."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

from . import matrix, timeline
from .gathering import Test, Window
from .json import Document, is_unswept
from .wording import counted

_MOST = 60_000  # bytes; a comment on GitHub holds 65,536 characters
_STORIES = 20  # failed windows told in full
_LINES = 40  # of a failure or timeline
_SIGNS = {"good": "✅", "bad": "❌", "other": "⚠️"}


def render(doc: Document) -> str:
    """The text of the file."""
    head = [*_head(doc), *_overview(doc["tests"])]
    tail = [line for test in doc["tests"] for line in _matrix(test)]
    room = _MOST - _size(head) - _size(tail)
    if room < 0:
        tail, room = ["The tables of points and faults are left out: they would be too long.", ""], _MOST - _size(head)
    unswept = _unswept(doc["tests"], room)
    return "\n".join([*head, *unswept, *_failures(doc["tests"], room - _size(unswept)), *tail, _foot(doc), ""])


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _head(doc: Document) -> list[str]:
    run = doc["run"]
    lines = [f"## {_headline(doc)}", ""]
    if run["interrupted"]:
        lines += [f"The run ended early ({_text(run['interrupted'])}); this is what was done.", ""]
    return lines


def _headline(doc: Document) -> str:
    totals = doc["totals"]
    unswept = f"{counted(totals['unswept'], 'test')} not swept" if totals["unswept"] else ""
    early = f", explored {totals['explored']} of {totals['known']}" if _ended_early(doc) else ""
    if not totals["tests"]:
        return "Crash windows: no sweep ran"
    if totals["failed"]:
        return f"❌ Crash windows: {totals['failed']} of {totals['explored']} failed{unswept and f', {unswept}'}{early}"
    sign = "❌" if any(map(_is_dead, doc["tests"])) else "⚠️"
    if not totals["explored"]:
        return f"{sign} Crash windows: none was tried"
    whole = totals["passed"] == totals["explored"] and all(test["verdict"] == "passed" for test in doc["tests"])
    if whole and not unswept and not early:
        good = "the only one" if totals["explored"] == 1 else f"all {totals['explored']}"
        return f"✅ Crash windows: {good} passed"
    return f"{sign} Crash windows: {unswept and f'{unswept}, '}{totals['passed']} of {totals['explored']} passed{early}"


def _ended_early(doc: Document) -> bool:
    """Whether windows are missing that were to be explored, other than those that nobody asked for."""
    early = doc["run"]["interrupted"] or any(test["verdict"] == "incomplete" for test in doc["tests"])
    return bool(early and doc["totals"]["explored"] < doc["totals"]["known"])


def _overview(tests: list[Test]) -> list[str]:
    if not tests:
        return []
    lines = ["| test | windows | explored | failed | verdict |", "| --- | ---: | ---: | ---: | --- |"]
    for test in sorted(tests, key=_is_good):
        failed = sum(window["outcome"] == "failed" for window in test["windows"])
        bad = failed or test["verdict"] == "failed" or _is_dead(test)
        sign = _SIGNS["good" if _is_good(test) else "bad" if bad else "other"]
        stopped = f": {test['stopped']}" if test["stopped"] else ""
        verdict = f"{sign} {_text(test['verdict'] + stopped)}"
        lines.append(f"| {_cell(test['test'])} | {test['known']} | {test['explored']} | {failed} | {verdict} |")
    return [*lines, ""]


def _is_good(test: Test) -> bool:
    passed = all(window["outcome"] == "passed" for window in test["windows"])
    return bool(test["verdict"] == "passed" and passed and not test["stopped"])


def _is_dead(test: Test) -> bool:
    """Whether a sweep couldn't be made, so that its test failed."""
    return is_unswept(test) and test["verdict"] not in ("skipped", "control xfailed", "incomplete")


# -- what failed -----------------------------------------------------------------------------


def _unswept(tests: list[Test], room: int) -> list[str]:
    """Why there is nothing to tell of some sweeps, and of those that failed though no window did."""
    lines: list[str] = []
    for test in tests:
        if not test["message"] or any(window["outcome"] == "failed" for window in test["windows"]):
            continue
        title = f"### {'Not swept' if is_unswept(test) else 'Failed'}: {_code(test['test'])}"
        more = [title, "", f"{_text(test['verdict'])}:", "", *_block(test["message"]), ""]
        more += [*_block(test["rerun"], "sh"), ""]
        if test["control"] and is_unswept(test):
            more += _folded("What happened without any fault", timeline.lines_of_data(test["control"]))
        if test["failure"] != test["message"]:
            more += _folded("The failure", test["failure"].splitlines())
        if _size(lines) + _size(more) > room // 2:
            return [*lines, "... and more tests that were not swept.", ""]
        lines += more
    return lines


def _failures(tests: list[Test], room: int) -> list[str]:
    failed = [(test, window) for test in tests for window in test["windows"] if window["outcome"] == "failed"]
    if not failed:
        return []
    lines = ["### Failed windows", ""]
    for n, (test, window) in enumerate(failed):
        story = _story(test, window) if n < _STORIES else []
        room -= _size(story)
        if room < 200 or not story:
            more = len(failed) - n
            return [*lines, f"... and {counted(more, 'more failed window')}.", ""]
        lines += story
    return lines


def _story(test: Test, window: Window) -> list[str]:
    lines = [f"#### {_code(window['window'])}", "", f"{_words(window)} in {_code(test['test'])}{_kind(window)}."]
    if window["message"]:
        lines += ["", *_block(window["message"])]
    if hint := window["hint"]:
        lines += ["", f"Hint: {_text(hint['text'])} ({_code(hint['page'])})"]
    lines += ["", *_block(window["rerun"] or test["rerun"], "sh"), ""]
    for fired in window["fired"]:
        lines += [*_where(fired), ""]
    lines += _folded("What happened", timeline.lines_of_data(window["timeline"]))
    return lines + _folded("The failure", window["failure"].splitlines())


def _words(window: Window) -> str:
    steps = [f"{_code(step['fault'])} at {_code(step['point'])}{_nth(step['hit'])}" for step in window["steps"]]
    return ", then ".join(steps)


def _kind(window: Window) -> str:
    return "" if window["verdict"] == "failed" else f" ({_text(window['verdict'])})"


def _nth(hit: int) -> str:
    return "" if hit == 1 else f", passing number {hit},"


def _where(fired: dict[str, Any]) -> list[str]:
    source = fired["source"]
    if not source:
        return []
    place = f"{source['file']}:{source['line']} in {source['function']}"
    lines = [
        f"{'>' if source['first'] + i == source['line'] else ' '} {source['first'] + i:4}  {line}"
        for i, line in enumerate(source["lines"])
    ]
    return [f"{_code(fired['fault'])} struck life {_code(fired['life'])} at {_code(place)}:", "", *_block(lines)]


def _folded(summary: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    if len(lines) > _LINES:
        half = _LINES // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} more lines ...", *lines[-half:]]
    return [f"<details><summary>{summary}</summary>", "", *_block(lines), "", "</details>", ""]


# -- the table -------------------------------------------------------------------------------


def _matrix(test: Test) -> Iterator[str]:
    table = matrix.of(test["points"], test["windows"])
    if test["kind"] != "sweep" or not table.cells:
        return
    yield f"<details><summary>Points and faults of <code>{_text(test['test'])}</code></summary>"
    yield ""
    yield f"| point | {' | '.join(_text(fault) for fault in table.faults)} |"
    yield f"| --- |{' --- |' * len(table.faults)}"
    for point in table.points:
        cells = [f"{_SIGNS[cell.tone]} {cell}" if cell else matrix.NOT_SWEPT for cell in table.row(point)]
        yield f"| {_cell(point)} | {' | '.join(cells)} |"
    yield ""
    if table.unswept:
        yield f"Not swept: {counted(len(table.unswept), 'more point')} that the control passed."
        yield ""
    for note in test["notes"]:
        yield f"- {_text(note)}"
    yield "</details>"
    yield ""


def _foot(doc: Document) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in doc["run"]["versions"].items())
    return (
        f"<sub>{counted(doc['totals']['explored'], 'window')} in {doc['run']['seconds']:.1f} s; {_text(versions)}</sub>"
    )


# -- escaping --------------------------------------------------------------------------------

_MARKUP = re.compile(r"[\\`*\[\]|~@#!]|(?<!\w)_|_(?!\w)")


def visible(text: str) -> str:
    """The text with characters that can't be seen, or that turn the direction of writing, spelled out."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf") else _named(c) for c in text)


def _named(char: str) -> str:
    return f"<U+{ord(char):04X}>"


def _text(text: str) -> str:
    """Text that stays text between other Markdown."""
    line = html.escape(visible(text).replace("\n", " "), quote=False)
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", line)


def _code(text: str) -> str:
    """A code span, whatever backticks are in the text."""
    line = visible(text).replace("\n", " ")
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line.strip() else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _cell(text: str) -> str:
    """A code span in a table, where `|` would end the cell even inside one."""
    return f"<code>{_text(text)}</code>"


def _block(text: str | list[str], language: str = "") -> list[str]:
    lines = text.splitlines() if isinstance(text, str) else text
    shown = [line for part in lines for line in visible(part).splitlines() or [""]]
    fence = "`" * max(3, max(map(_longest_run, shown), default=0) + 1)
    return [f"{fence}{language}", *shown, fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
