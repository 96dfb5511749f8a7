"""Texts that a run comes to only after long, or by chance: the functions that make them are called."""

# $ python direct.py

import dataclasses
import os
from pathlib import Path
from types import SimpleNamespace

from pytest_crashwindow import originals, surgery
from pytest_crashwindow.errors import CrashWindowError
from pytest_crashwindow.faults.crash import Crash
from pytest_crashwindow.guard import Guard
from pytest_crashwindow.points import Armed
from pytest_crashwindow.report import evidence, markdown, story, sweeps, terminal, timeline, wording, writing
from pytest_crashwindow.report.json import RunFacts, document


def say(title, *lines):
    print(f"== {title} ==", *lines, "", sep="\n")


def window(n, verdict="passed", seconds=0.1):
    outcome = "passed" if verdict == "passed" else "failed"
    step = {"point": f"work.{n}", "hit": 1, "fault": "crash"}
    told = {
        "failure": "line\n" * 50,
        "timeline": [],
        "fired": [],
        "output": [],
        "reason": "",
        "rerun": f"pytest {n}",
        "hint": None,
    }
    named = {"window": f"work.{n}+1:crash", "point": f"work.{n}", "fault": "crash", "steps": [step]}
    return {**named, **told, "verdict": verdict, "outcome": outcome, "seconds": seconds, "message": "it failed"}


def sweep(windows, **more):
    points = [f"work.{n}" for n in range(45)]
    known = {
        "test": "test_it.py::test_x",
        "kind": "sweep",
        "verdict": "passed",
        "known": 45,
        "rerun": "pytest test_it.py",
        "message": "",
        "failure": "",
    }
    told = {
        "explored": len(windows),
        "stopped": "",
        "notes": [],
        "listed": [],
        "rebound": {},
        "control": [],
        "points": points,
    }
    return {**known, **told, "windows": windows, **more}


RUN = RunFacts("2026-01-02T03:04:05+00:00", 1.0, 1, "", {"pytest": "9.2.0"}, [])


def report(*windows, interrupted="", **more):
    run = dataclasses.replace(RUN, interrupted=interrupted)
    return markdown.render(document([sweep(list(windows), **more)], run))


def refused(act):
    try:
        act()
    except (CrashWindowError, writing.pytest.UsageError) as error:
        return f"{type(error).__name__}: {error}"


# -- the terminal --------------------------------------------------------------------------------

ONE_BAD = [window(n, "failed" if n == 3 else "passed", seconds=n / 20) for n in range(45)]
say("a long table, and what was slow", *terminal.lines([sweep(ONE_BAD, verdict="failed")], verbose=False))
say("a long table, all of it good", *terminal.lines([sweep(ONE_BAD[4:9])], verbose=True))
say("a narrow terminal", *terminal.lines([sweep(ONE_BAD[2:5], verdict="failed")], verbose=False, width=24))
say("many failures", sweeps.sweep_failed([window(n, "failed") for n in range(12)], 12, 12, "", ["a note"]))


def fired(n):
    return SimpleNamespace(point="work.done", ordinal=n, fault="crash", life="worker")


say("often", *(story.in_words([fired(n)]) for n in (3, 4, 11, 21)))

EVENTS = [{"event": "observed", "life": "", "at": n, "name": "n", "value": n} for n in range(70)]
WORLD = SimpleNamespace(events=lambda: EVENTS, hits=list, fired=list)
say("a long timeline", *timeline.text(WORLD).splitlines()[28:33])

# -- report files --------------------------------------------------------------------------------

POINTS = [{"ms": n, "kind": "point", "life": "worker", "name": f"work.{n}+1", "detail": ""} for n in range(450)]
LEFT_OUT = next(entry for entry in evidence._middle_left_out(POINTS) if entry["kind"] == "left out")
say("a report of many points", report({**window(1, "failed"), "failure": "", "timeline": [LEFT_OUT]}, verdict="failed"))
MANY = report(*(window(n, "failed") for n in range(22))).splitlines()
say("a report of many failures", *MANY[:2], "...", *(line for line in MANY if " more " in line))
say("a report that is too long", *report(*(window(n) for n in range(2000))).splitlines()[-4:])
say("progress of a run that takes long", terminal.progress(312, 885, 24.0))
say("a report of a run that was broken off", *report(window(1), interrupted="Ctrl-C").splitlines()[:4])
DEAD = sweep([], verdict="error", message="why " * 4000)
say("a report of many sweeps that didn't run", *markdown.render(document([DEAD] * 3, RUN)).splitlines()[-4:])
say("a report of a sweep that didn't run", *report(verdict="unsteady control").splitlines()[:7])


# -- what only a strange machine shows -----------------------------------------------------------


def closed(path, mode):
    return mode == os.F_OK


def guard_that_keeps_silent():
    guard = Guard.__new__(Guard)
    guard._unread, (guard._events, _), (guard._said, _) = [], os.pipe(), os.pipe()
    guard._expect("cleared", 0.0)


def guard_that_cannot_fork():
    def fails():
        raise BlockingIOError("Resource temporarily unavailable")

    guard = Guard(lambda *_: None, Path("debris"), prepare=lambda: setattr(originals, "fork", fails))
    try:
        guard.fork()
    finally:
        guard.close()


def types_laid_out_otherwise():
    surgery._FLAGS_OFFSET += 8
    with surgery.thawed(int):
        pass


late = Armed(0, "shop.paid", Crash())
say("a fault that fires when the test body is over", wording.never_fired([late], [], late=[late]))
say("a guard that keeps silent", refused(guard_that_keeps_silent))
say("a guard that can't fork", refused(guard_that_cannot_fork))
say("types that are laid out in another way", refused(types_laid_out_otherwise))
os.access = closed
say(
    "a folder that can't be written to",
    refused(lambda: writing.usable(["report.md"], Path("."), "--crashwindow-report")),
)
