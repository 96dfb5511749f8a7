"""The HTML report as a person meets it: seen, clicked, stepped through, filtered, linked to, by keyboard and phone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pytest_crashwindow.report import html
from pytest_crashwindow.report.json import RunFacts, document

from .driving import address

TWICE = "test_shop.py::test_customer_gets_one_mail[shop.mail.sent+1:crash]"
STALE = "test_shop.py::test_stale_worker_cannot_overwrite[shop.job.computed+1:pause]"
NASTY = "<script>document.title='owned'</script></script> ]]> <!-- \u202eexe &amp;"


class Errors(list[str]):
    """What the console and the page complained about."""


@pytest.fixture
def errors() -> Errors:
    return Errors()


@pytest.fixture
def context(chrome: Any, errors: Errors) -> Iterator[Any]:
    """A desktop's window; whatever a page complains about fails the test."""
    made = chrome.new_context(viewport={"width": 1360, "height": 900})
    made.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
    made.on("weberror", lambda error: errors.append(str(error.error)))
    made.on("request", lambda one: errors.append(one.url) if not one.url.startswith(("file:", "data:")) else None)
    yield made
    made.close()
    assert errors == []


@pytest.fixture
def page(context: Any, demo: Path) -> Any:
    """The demo's report, opened."""
    made = context.new_page()
    made.goto(address(demo))
    made.wait_for_selector("html[data-ready]")
    return made


def opened(page: Any, window: str, report: Path, step: int | None = None) -> Any:
    page.goto(address(report, window, step))
    page.wait_for_selector(".stepper")
    return page


# -- the overview ----------------------------------------------------------------------------


def test_the_overview_has_a_matrix_for_each_test_with_failures_first(page: Any) -> None:
    assert page.title() == "Crash windows: 10 of 24 failed"
    titles = page.locator("section.test h2").all_inner_texts()
    assert [title.rpartition("::")[2] for title in titles] == [
        "test_customer_gets_one_mail",
        "test_stale_worker_cannot_overwrite",
        "test_settings_are_old_or_new",
        "test_order_survives",
    ]
    first = page.locator("table.matrix").first
    assert first.locator("thead th").all_inner_texts() == ["point", "crash", "lost_ack", "error", "duplicate"]
    assert first.locator("tbody th").all_inner_texts()[:3] == [
        "sqlite3.commit:enter",
        "sqlite3.commit:exit",
        "shop.order.committed",
    ]
    assert first.locator("a.cell.bad").count() == 4
    assert first.locator("a.cell.good").count() == 5
    assert first.locator("[aria-label='not swept']").count() == 17


def test_points_that_were_not_swept_are_shown_on_demand(page: Any) -> None:
    stale = page.locator("section.test").nth(1)
    assert stale.locator("tr.unswept:visible").count() == 0
    stale.get_by_role("button", name="Show 2 points not swept").click()
    assert stale.locator("tr.unswept:visible").count() == 2


def test_a_cell_opens_its_window_and_back_goes_back(page: Any) -> None:
    page.get_by_role("link", name="crash at shop.mail.sent, 1st passing: failed").click()
    page.wait_for_selector(".stepper")
    assert page.locator("h2").first.inner_text() == "crash at shop.mail.sent"
    page.go_back()
    page.wait_for_selector(".matrix")
    page.locator(".row").first.click()
    page.wait_for_selector(".stepper")
    page.get_by_role("link", name="Overview").click()
    page.wait_for_selector(".matrix")


# -- one window ------------------------------------------------------------------------------


def test_a_window_tells_what_failed_where_and_how_to_run_it_again(page: Any, demo: Path) -> None:
    opened(page, TWICE, demo)
    assert "assert ['o-1', 'o-1'] == ['o-1']" in page.locator(".message").inner_text()
    assert page.locator(".command code").first.inner_text() == f"pytest '{TWICE}'"
    assert page.locator("pre.code .hit").inner_text().strip().endswith('sys.audit("shop.mail.sent", order)')
    assert "assert shop.effects.keys" in page.get_by_label("text of the failure").inner_text()


def test_lives_are_columns_and_a_paused_one_is_dotted_until_it_goes_on(page: Any, demo: Path) -> None:
    opened(page, STALE, demo)
    assert page.locator(".lanes .lane").all_inner_texts() == ["test", "worker-A", "worker-B"]
    kinds = [
        (name or "").split()[0] for name in page.locator("#lifeline > li").evaluate_all("l => l.map(e => e.className)")
    ]
    paused, resumed = kinds.index("is-paused"), kinds.index("is-resumed")
    between = page.locator("#lifeline > li").nth(paused + 1).locator(".track").first.get_attribute("class")
    after = page.locator("#lifeline > li").nth(resumed + 1).locator(".track").first.get_attribute("class")
    assert "above-paused below-paused" in between
    assert "above-alive" in after


def test_stepping_shows_the_state_of_each_step(page: Any, demo: Path) -> None:
    opened(page, TWICE, demo)
    state = page.locator("#panel-state")
    assert "2 too many" in state.inner_text()
    assert page.locator("#on").is_disabled()
    page.locator("#first").click()
    assert page.locator("#back").is_disabled()
    assert "Nothing up to here" in state.inner_text()
    assert state.locator(".state").all_inner_texts() == ["running"]
    page.locator("#to-fault").click()
    assert page.locator("li.is-fault [aria-current=step]").count() == 1
    assert "too many" not in state.inner_text()
    page.locator("#on").click()
    assert state.locator(".state").all_inner_texts() == ["crashed"]
    page.locator("#to-difference").click()
    assert "first difference from the control" in page.locator("[aria-current=step]").inner_text()
    assert "2 too many" in state.inner_text()
    page.locator("#last").click()
    assert state.get_by_label("orders").locator("td").all_inner_texts() == ["o-1", "placed", "1250"]
    page.locator("#lifeline button").nth(2).click()
    assert page.locator("#at").inner_text().startswith("3 / ")
    page.locator("#range").fill("0")
    assert page.locator("#at").inner_text().startswith("1 / ")


def test_what_was_observed_is_compared_with_the_control(page: Any, demo: Path) -> None:
    opened(page, STALE, demo)
    state = page.locator("#panel-state")
    assert "differs from the control" in state.inner_text()
    assert state.locator("td.odd").inner_text() == "computed by A ≠"
    assert state.get_by_label("jobs in the control").locator("td").last.inner_text() == "computed by B"


def test_the_control_stands_beside_the_window_with_the_difference_marked(page: Any, demo: Path) -> None:
    opened(page, STALE, demo)
    page.get_by_role("tab", name="Control").click()
    leaves = page.locator("#panel-control li.leaves")
    assert "here the window leaves the control" in leaves.inner_text()
    assert "sqlite3.commit:enter+2" in leaves.inner_text()
    before, line = page.locator("#panel-control").bounding_box(), page.locator("#lifeline").bounding_box()
    assert before["x"] > line["x"] + line["width"] - 1


# -- filter and links ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("select", "value", "count"),
    [
        ("#f-test", "test_shop.py::test_settings_are_old_or_new", 6),
        ("#f-point", "shop.job.claimed", 4),
        ("#f-fault", "pause", 4),
        ("#f-verdict", "failed", 10),
    ],
)
def test_filters(page: Any, select: str, value: str, count: int) -> None:
    page.select_option(select, value)
    assert page.locator("#count").inner_text() == f"{count} of 24 windows"
    assert page.locator(".row").count() >= count
    page.get_by_role("button", name="Clear").click()
    assert page.locator("#count").inner_text() == "24 windows"


def test_filters_work_together_and_say_when_nothing_is_left(page: Any) -> None:
    page.locator("#f-text").fill("mail crash")
    page.select_option("#f-verdict", "failed")
    assert page.locator(".row").count() == 2
    assert page.locator("section.test").count() == 1
    page.locator("#f-text").fill("nowhere")
    assert page.locator("#main").inner_text().endswith("No window matches the filter.")


def test_a_link_leads_to_a_window_and_a_step(context: Any, demo: Path) -> None:
    page = opened(context.new_page(), STALE, demo, step=3)
    assert page.locator("h2").first.inner_text() == "pause at shop.job.computed"
    assert page.locator("#at").inner_text().startswith("3 / ")
    page.locator("#on").click()
    assert page.url.endswith("&s=4")
    page.reload()
    page.wait_for_selector(".stepper")
    assert page.locator("#at").inner_text().startswith("4 / ")


@pytest.mark.parametrize("hash", ["#w=nothing", "#w=%E0%A4%A", "#other"])
def test_a_link_to_nothing_shows_the_overview(context: Any, demo: Path, hash: str) -> None:
    page = context.new_page()
    page.goto(demo.as_uri() + hash)
    page.wait_for_selector(".matrix")
    assert page.get_by_text("There is no such window").count() == hash.startswith("#w=")


# -- keyboard --------------------------------------------------------------------------------


def test_by_keyboard_alone(page: Any) -> None:
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "f-text"
    page.keyboard.type("stale pause j")  # letters that are keys elsewhere
    assert page.locator("#count").inner_text() == "4 of 24 windows"
    page.keyboard.press("Enter")
    page.wait_for_selector(".stepper")
    first = page.locator("h2").first.inner_text()
    page.keyboard.press("j")
    page.wait_for_function("was => document.querySelector('h2').innerText !== was", arg=first)
    page.keyboard.press("k")
    page.wait_for_function("was => document.querySelector('h2').innerText === was", arg=first)
    page.keyboard.press("f")
    at = page.locator("#at").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#at").inner_text() != at
    page.keyboard.press("ArrowRight")
    assert page.locator("#at").inner_text() == at
    page.keyboard.press("c")
    assert page.locator("#panel-control").is_visible()
    page.keyboard.press("Escape")
    page.wait_for_selector(".matrix")


def test_the_list_by_arrows_and_enter(page: Any) -> None:
    page.locator("#list").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    active = page.locator("#list").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-posinset") == "3"
    page.keyboard.press("Enter")
    page.wait_for_selector(".stepper")
    assert page.locator("h2").first.inner_text() == "crash at shop.order.committed"


def test_focus_is_visible_and_help_lists_the_keys(page: Any) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


# -- looks -----------------------------------------------------------------------------------


def test_on_a_phone_nothing_is_wider_than_the_page(chrome: Any, context: Any, demo: Path) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    for window in ("", TWICE, STALE):
        page.goto(address(demo, window))
        page.wait_for_selector(".stepper" if window else ".matrix")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        if window:
            page.get_by_role("tab", name="Control").click()
            assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_dark_and_light(chrome: Any, demo: Path) -> None:
    context = chrome.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(address(demo))
    page.wait_for_selector("html[data-ready]")

    def brightness() -> int:
        return int(page.evaluate("getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/)[0]"))

    assert brightness() < 60
    page.get_by_role("button", name="Theme: system").click()
    page.wait_for_selector("html[data-theme=light]")
    assert brightness() > 200
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_role("button", name="Theme: light").is_visible()
    context.close()


def test_printing_leaves_out_what_only_a_screen_needs(page: Any, demo: Path) -> None:
    opened(page, TWICE, demo)
    page.emulate_media(media="print")
    assert not page.locator(".side").is_visible()
    assert not page.locator(".stepper").is_visible()
    assert page.locator("#lifeline").is_visible()


@pytest.mark.parametrize(
    ("scheme", "width", "window"),
    [
        ("light", 1360, ""),
        ("dark", 1360, ""),
        ("light", 390, ""),
        ("light", 1360, STALE),
        ("dark", 1360, STALE),
        ("dark", 390, TWICE),
    ],
)
def test_accessibility(context: Any, demo: Path, scheme: str, width: int, window: str) -> None:
    page = context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address(demo, window))
    page.wait_for_selector(".stepper" if window else ".matrix")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    if window:
        page.locator("#to-fault").click()
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []


# -- text stays text, and many windows ---------------------------------------------------------


def _window(name: str, text: str, entries: int = 12, **more: Any) -> dict[str, Any]:
    point, _, rest = name.partition("+")
    hit, _, fault = rest.partition(":")
    timeline = [
        {"ms": float(n), "kind": "point", "life": text, "name": f"{point}+{n + 1}", "detail": text}
        for n in range(entries)
    ]
    return {
        "window": name,
        "point": point,
        "fault": fault,
        "steps": [{"point": point, "hit": int(hit), "fault": fault}],
        "verdict": "passed",
        "outcome": "passed",
        "reason": "",
        "seconds": 0.1,
        "rerun": text,
        "message": "",
        "failure": "",
        "hint": None,
        "fired": [],
        "timeline": timeline,
        "output": [],
        **more,
    }


def _written(path: Path, tests: dict[str, list[dict[str, Any]]], text: str = "", *others: dict[str, Any]) -> Path:
    run = RunFacts("2026-01-02T03:04:05+00:00", 1.0, 1, text, {"pytest": "9"}, [])
    sweeps = [
        {
            "test": test,
            "kind": "sweep",
            "verdict": "failed",
            "known": len(windows),
            "explored": len(windows),
            "stopped": text,
            "notes": [text] if text else [],
            "points": list(dict.fromkeys(window["point"] for window in windows)),
            "rerun": f"pytest {test}",
            "message": text,
            "failure": f"{text} ...",
            "control": windows[0]["timeline"],
            "windows": windows,
        }
        for test, windows in tests.items()
    ]
    path.write_text(html.render(document([*sweeps, *others], run)), encoding="utf-8")
    return path


def _dead(text: str, control: list[dict[str, Any]]) -> dict[str, Any]:
    """A sweep whose control failed."""
    return {
        "test": text,
        "kind": "sweep",
        "verdict": "control failed",
        "known": 0,
        "explored": 0,
        "stopped": "",
        "notes": [],
        "points": [],
        "rerun": f"pytest {text}",
        "message": text,
        "failure": f">   {text}",
        "control": control,
        "windows": [],
    }


CONTROL = [
    {"ms": 1.0, "kind": "started", "life": "place", "name": "", "detail": 7},
    {"ms": 2.5, "kind": "ended", "life": "place", "name": "returned", "detail": ""},
]


@pytest.fixture
def unswept(tmp_path: Path) -> Path:
    """A report with a sweep that passed and one whose control failed."""
    return _written(tmp_path / "unswept.html", {}, "", _dead("test_it.py::test_dead", CONTROL))


def test_a_sweep_that_came_to_nothing_says_why_and_looks_bad(context: Any, unswept: Path) -> None:
    page = context.new_page()
    page.goto(address(unswept))
    page.wait_for_selector("html[data-ready]")
    assert page.locator("#totals").inner_text() == "✕ 1 test not swept"
    section = page.locator(".test")
    assert "no window was tried · control failed" in section.locator(".sub").inner_text()
    assert section.locator(".message").inner_text() == "test_it.py::test_dead"
    assert "returned" not in section.inner_text()
    section.get_by_text("What happened without any fault").click()
    section.locator(".control li").nth(1).wait_for()
    assert "place returned" in section.locator(".control").inner_text()
    section.get_by_text("The failure").click()
    section.locator("pre").wait_for()
    assert section.locator("pre").inner_text().startswith(">")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1360), ("dark", 390)])
def test_accessibility_of_a_sweep_that_came_to_nothing(context: Any, unswept: Path, scheme: str, width: int) -> None:
    page = context.new_page()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(address(unswept))
    for fold in page.locator(".why summary").all():
        fold.click()
    page.locator(".why .control li").first.wait_for()
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == []


def test_a_failed_window_has_its_hint(page: Any, demo: Path) -> None:
    opened(page, TWICE, demo)
    hint = page.locator(".hint").inner_text()
    assert hint.startswith("Hint: the effect had happened and nothing recorded it yet, so it was done again")
    assert "docs/how-to/effect-and-commit.md" in hint


def test_no_text_of_a_test_becomes_markup_or_turns_the_direction(context: Any, tmp_path: Path) -> None:
    fired = {"fault": NASTY, "point": NASTY, "hit": 1, "life": NASTY, "ms": 1.0, "arguments": NASTY, "frames": [],
             "source": {"file": NASTY, "line": 1, "function": NASTY, "first": 1, "lines": [NASTY]}}  # fmt: skip
    told = [
        {"ms": 1.0, "kind": kind, "life": NASTY, "name": NASTY, "detail": [{NASTY: NASTY}]}
        for kind in ("started", "point", "fault", "effect", "observed", "problem", "ended", "left out")
    ]
    window = _window(
        "x+1:crash", NASTY, outcome="failed", verdict=NASTY, message=NASTY, failure=NASTY, timeline=told,
        fired=[fired], output=[{"life": NASTY, "stdout": NASTY, "stderr": NASTY}], reason=NASTY, point=NASTY,
        steps=[{"point": NASTY, "hit": 1, "fault": NASTY}], fault=NASTY, hint={"text": NASTY, "page": NASTY},
    )  # fmt: skip
    report = _written(tmp_path / "nasty.html", {NASTY: [window]}, NASTY, _dead(NASTY, told))
    page = context.new_page()
    page.goto(address(report))
    page.wait_for_selector(".matrix")
    scripts = page.locator("script").count()
    for fold in page.locator(".why summary").all():
        fold.click()
    page.locator(".why .control li").first.wait_for()
    assert page.locator("script").count() == scripts
    page.locator(".row").first.click()
    page.wait_for_selector(".stepper")
    page.get_by_role("tab", name="Control").click()
    assert page.locator("script").count() == scripts
    assert "owned" not in page.title()[:5]
    text = page.evaluate("document.body.innerText")
    assert "\u202e" not in text
    assert "U+202E" in text
    assert "<script>document.title='owned'</script></script> ]]> <!--" in text
    assert "&amp;" in text


@pytest.fixture
def thousand(tmp_path: Path) -> Path:
    """1,000 windows in 4 tests, with long timelines."""
    tests = {
        f"test_big.py::test_{n}": [
            _window(f"shop.part{i % 50}.point+{i // 50 + 1}:crash", "life", 60,
                    **({"outcome": "failed", "verdict": "failed"} if i % 40 == 7 else {}))
            for i in range(250)
        ]
        for n in range(4)
    }  # fmt: skip
    return _written(tmp_path / "big.html", tests)


def test_a_thousand_windows_open_at_once_and_are_filtered_at_once(context: Any, thousand: Path) -> None:
    page = context.new_page()
    began = time.monotonic()
    page.goto(address(thousand))
    page.wait_for_selector("html[data-ready]")
    took = time.monotonic() - began
    print(f"opened in {took:.2f} s")
    assert page.locator("#count").inner_text() == "1,000 windows"
    assert page.locator(".row").count() < 40
    assert page.evaluate("performance.getEntriesByType('navigation')[0].domComplete") > 0
    page.select_option("#f-verdict", "failed")
    assert page.locator("#count").inner_text() == "28 of 1,000 windows"
    page.get_by_role("button", name="Clear").click()
    page.evaluate("document.getElementById('list').scrollTop = 52 * 900")
    page.wait_for_selector("[aria-posinset='905']")
    assert page.locator(".row").count() < 40
    page.locator("[aria-posinset='905']").click()
    page.wait_for_selector(".stepper")
    assert page.locator("#lifeline > li").count() == 60


def test_opening_reads_no_story_that_is_not_shown(context: Any, thousand: Path) -> None:
    page = context.new_page()
    page.add_init_script("const parse = JSON.parse; globalThis.parsed = 0;"
                         "JSON.parse = (...a) => { globalThis.parsed++; return parse(...a); };")  # fmt: skip
    page.goto(address(thousand))
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("globalThis.parsed") == 1
    page.locator(".row").first.click()
    page.wait_for_selector(".stepper")
    assert page.evaluate("globalThis.parsed") <= 10


def test_a_report_without_a_sweep(context: Any, tmp_path: Path) -> None:
    page = context.new_page()
    page.goto(address(_written(tmp_path / "empty.html", {})))
    page.wait_for_selector("html[data-ready]")
    assert "No sweep ran." in page.locator("#main").inner_text()
