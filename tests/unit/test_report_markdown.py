"""The Markdown report as text, and that nothing in it can be taken for markup."""

from __future__ import annotations

import json
from typing import Any

from pytest_crashwindow.report import markdown
from pytest_crashwindow.report.json import RunFacts, document

RUN = RunFacts("2026-01-02T03:04:05+00:00", 1.25, 1, "", {"pytest": "9.0.0"}, [])


def window(name: str, outcome: str = "passed", **more: Any) -> dict[str, Any]:
    point, _, rest = name.partition("+")
    hit, _, fault = rest.partition(":")
    return {
        "window": name,
        "point": point,
        "fault": fault,
        "steps": [{"point": point, "hit": int(hit), "fault": fault}],
        "verdict": outcome,
        "outcome": outcome,
        "reason": "",
        "seconds": 0.1,
        "rerun": f"pytest 'test_it.py::test_x[{name}]'",
        "message": "",
        "failure": "",
        "hint": None,
        "fired": [],
        "timeline": [],
        "output": [],
        **more,
    }


def sweep(windows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    failed = any(window["outcome"] == "failed" for window in windows)
    return {
        "test": "test_it.py::test_x",
        "kind": "sweep",
        "verdict": "failed" if failed else "passed",
        "known": len(windows),
        "explored": len(windows),
        "stopped": "",
        "notes": [],
        "points": list(dict.fromkeys(window["point"] for window in windows)),
        "rerun": "pytest test_it.py::test_x",
        "message": "",
        "failure": "",
        "control": [],
        "windows": windows,
        **more,
    }


def render(*tests: dict[str, Any], run: RunFacts = RUN) -> str:
    return markdown.render(document(list(tests), run))


FIRED = {
    "fault": "crash",
    "point": "shop.b",
    "hit": 2,
    "life": "place",
    "ms": 1.5,
    "arguments": "",
    "frames": [],
    "source": {"file": "shop.py", "line": 7, "function": "place", "first": 6, "lines": ["a()", "b()"]},
}
TIMELINE = [
    {"ms": 1.0, "kind": "started", "life": "place", "name": "", "detail": 77},
    {"ms": 1.5, "kind": "fault", "life": "place", "name": "crash at shop.b+2", "detail": "shop.py:7 in place"},
    {"ms": 2.0, "kind": "observed", "life": "", "name": "orders", "detail": [{"id": "o-1"}]},
]

GOLDEN = """\
## ❌ Crash windows: 1 of 3 failed

| test | windows | explored | failed | verdict |
| --- | ---: | ---: | ---: | --- |
| <code>test_it.py::test_x</code> | 3 | 3 | 1 | ❌ failed |

### Failed windows

#### `shop.b+2:crash`

`crash` at `shop.b`, passing number 2, in `test_it.py::test_x`.

```
AssertionError: assert 2 == 1
```

Hint: it was done &#42;twice&#42; (`docs/how-to/lost-answer.md`)

```sh
pytest 'test_it.py::test_x[shop.b+2:crash]'
```

`crash` struck life `place` at `shop.py:7 in place`:

```
     6  a()
>    7  b()
```

<details><summary>What happened</summary>

```
      1.0 ms  place  started (pid 77)
      1.5 ms  place  >> crash at shop.b+2, shop.py:7 in place
      2.0 ms         observed orders = [{"id": "o-1"}]
```

</details>

<details><summary>The failure</summary>

```
>   assert 2 == 1
```

</details>

<details><summary>Points and faults of <code>test_it.py::test_x</code></summary>

| point | crash | pause |
| --- | --- | --- |
| <code>shop.a</code> | ✅ ok | ✅ ok |
| <code>shop.b</code> | ❌ FAIL | - |

</details>

<sub>3 windows in 1.2 s; pytest 9.0.0</sub>
"""


def test_what_failed_comes_first_then_the_table() -> None:
    failed = window(
        "shop.b+2:crash",
        "failed",
        message="AssertionError: assert 2 == 1",
        failure=">   assert 2 == 1",
        hint={"text": "it was done *twice*", "page": "docs/how-to/lost-answer.md"},
        fired=[FIRED],
        timeline=TIMELINE,
    )
    assert render(sweep([window("shop.a+1:crash"), window("shop.a+1:pause"), failed])) == GOLDEN


def test_all_passed_and_nothing_ran() -> None:
    assert render(sweep([window("shop.a+1:crash")])).startswith("## ✅ Crash windows: the only one passed\n")
    assert render().startswith("## Crash windows: no sweep ran\n")


DEAD = {
    "test": "test_it.py::test_dead",
    "verdict": "control failed",
    "rerun": "pytest test_it.py::test_dead",
    "message": "assert [] == ['o-1']",
    "failure": ">   assert seen",
    "control": TIMELINE[:1],
}
WHY = """\
### Not swept: `test_it.py::test_dead`

control failed:

```
assert [] == ['o-1']
```

```sh
pytest test_it.py::test_dead
```

<details><summary>What happened without any fault</summary>
"""


def test_a_sweep_that_came_to_nothing_is_no_success_and_says_why() -> None:
    text = render(sweep([window("shop.a+1:crash")]), sweep([], **DEAD))
    assert text.startswith("## ❌ Crash windows: 1 test not swept, 1 of 1 passed\n")
    assert "| <code>test&#95;it.py::test&#95;dead</code> | 0 | 0 | 0 | ❌ control failed |" in text.replace(
        "_", "&#95;"
    )
    assert WHY in text
    assert "started (pid 77)" in text
    assert ">   assert seen" in text


def test_headlines_with_a_sweep_that_came_to_nothing() -> None:
    good, bad = window("shop.a+1:crash"), window("shop.b+1:crash", "failed")
    skipped = sweep([], verdict="skipped", message="no server")
    assert render(sweep([good, bad]), sweep([], **DEAD)).startswith(
        "## ❌ Crash windows: 1 of 2 failed, 1 test not swept\n"
    )
    assert render(sweep([], **DEAD)).startswith("## ❌ Crash windows: none was tried\n")
    assert render(sweep([good]), skipped).startswith("## ⚠️ Crash windows: 1 test not swept, 1 of 1 passed\n")
    assert render(skipped).startswith("## ⚠️ Crash windows: none was tried\n")


def test_a_sweep_that_failed_though_no_window_did_says_why() -> None:
    text = render(sweep([window("shop.a+1:crash")], verdict="failed", message="on another worker: no", failure="no"))
    assert "### Failed: `test_it.py::test_x`" in text
    assert "on another worker: no" in text


def test_a_run_that_ended_early_says_so() -> None:
    run = RunFacts(**{**RUN.__dict__, "interrupted": "stopping after 1 failures"})
    text = render(sweep([window("shop.a+1:crash")], verdict="incomplete", known=9, stopped="it ended"), run=run)
    assert text.startswith("## ⚠️ Crash windows: 1 of 1 passed, explored 1 of 9\n")
    assert "The run ended early (stopping after 1 failures); this is what was done." in text
    assert "| 9 | 1 | 0 | ⚠️ incomplete: it ended |" in text


def test_nothing_of_a_test_becomes_markup() -> None:
    nasty = "`` ``` <script>alert(1)</script> | **bold** @everyone [x](http://x) \u202e ]]> \r\x1b[31m"
    bad = window("shop.a+1:crash", "failed", message=nasty, failure=f"```\n{nasty}", rerun=f"pytest '{nasty}'")
    text = render(sweep([bad], test=nasty, notes=[nasty], stopped=nasty))
    fence = ""
    for line in text.splitlines():
        if line.startswith("```") and not fence:
            fence = line.rstrip("sh")
        elif fence and line == fence:
            fence = ""
        elif not fence and not line.startswith("`"):
            outside = [part for i, part in enumerate(line.split("`` ")) if i % 2 == 0]
            assert "<script" not in line
            assert not any("@everyone" in part and "`" not in part for part in outside)
    assert not fence
    assert not {"\u202e", "\x1b", "\r"} & set(text)
    assert "<U+202E>" in text


def test_it_fits_into_a_comment_however_much_failed() -> None:
    many = [
        window(f"shop.p{n}+1:crash", "failed", failure="x" * 5000, timeline=TIMELINE * 30, message="assert 1 == 2")
        for n in range(400)
    ]
    text = render(sweep(many))
    assert len(text.encode()) < 65_536
    assert "... and 3" in text
    text.encode("utf-8")
    json.dumps(text)
