"""Hooks: an example plugin with a fault and a probe of its own, and with a say in windows and reports."""

from __future__ import annotations

import re

import pytest

from .conftest import Run
from .sweeping import WORK, A, C, outcomes, windows

PLUGIN = '''
"""A message queue's probe, and a fault that corrupts the message under way."""
from pytest_crashwindow import Fault, Probe
import queue_client

class Garble(Fault):
    name = "garble"
    ends = ("enter",)

    def act(self, fired, life):
        queue_client.garbled = True

class Queue(Probe):
    name = "queue"
    calls = ("queue.publish",)

    def install(self, site):
        tracker = site.tracker

        def publish(original, args, kwargs):
            tracker.passed("queue.publish:enter", args)
            result = original(*args, **kwargs)
            tracker.passed("queue.publish:exit", args)
            return result

        site.attach(queue_client.publish, publish)

def pytest_crashwindow_faults(config):
    return [Garble()]

def pytest_crashwindow_probes(config):
    return [Queue()]
'''
CLIENT = """
garbled = False

def publish(text, effects):
    effects.record("published", "?" * len(text) if garbled else text)
"""
SHOP = """
import pytest
import queue_client

def work(effects):
    queue_client.publish("order", effects)

@pytest.mark.crash_windows(ARGUMENTS)
def test_work(crashwindow):
    crashwindow.supervise(work, crashwindow.effects)
    assert set(crashwindow.effects.keys("published")) == {"order"}
"""


@pytest.fixture
def shop(run: Run, pytester: pytest.Pytester) -> Run:
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(queue_client=CLIENT)
    return lambda arguments, *args: run(SHOP.replace("ARGUMENTS", arguments), "-v", "-o", "pythonpath=.", *args)


def test_a_probe_of_a_plugin_has_windows_without_configuration(shop: Run) -> None:
    result = shop("")
    assert windows(result) == ["queue.publish:enter+1:crash", "queue.publish:exit+1:crash"]
    assert result.ret == 0


def test_a_fault_of_a_plugin_can_be_swept(shop: Run) -> None:
    result = shop("garble='queue.*'")
    assert outcomes(result) == {"test_work[queue.publish:enter+1:garble]": "FAILED", "test_work": "FAILED"}
    result.stdout.fnmatch_lines(["*assert {'[?][?][?][?][?]'} == {'order'}", "*>> garble at queue.publish:enter+1*"])


def test_a_probe_of_a_plugin_can_be_chosen_by_name(shop: Run) -> None:
    assert len(windows(shop("", "-o", "crashwindow_probes=queue"))) == 2
    none = shop("", "-o", "crashwindow_probes=files")
    none.stdout.fnmatch_lines(["the control passed no point*"])
    unknown = shop("", "-o", "crashwindow_probes=queu")
    assert unknown.ret == 4
    unknown.stderr.fnmatch_lines(["*crashwindow_probes: unknown probe 'queu'; did you mean 'queue'[?]*"])


def test_two_faults_of_one_name_are_an_error(shop: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(PLUGIN.replace('"garble"', '"crash"'))
    result = shop("")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*two faults are called 'crash'; a registered fault needs a name of its own*"])


# -- windows and their results -------------------------------------------------------------------


def test_windows_can_be_filtered_added_and_reordered(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from pytest_crashwindow.windows import Window

        def pytest_crashwindow_windows(item, windows):
            assert item.name == "test_work"
            windows[:] = [w for w in reversed(windows) if w.point != "work.b"]
            windows.append(Window.at("work.c", 1, "pause"))
        """
    )
    result = run(WORK, "-v")
    assert list(outcomes(result)) == [C, A, "test_work[work.c+1:pause]", "test_work"]
    assert result.ret == 0


def test_filtering_all_windows_out_is_no_pass(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_crashwindow_windows(windows):\n    windows.clear()\n")
    assert outcomes(run(WORK, "-v")) == {"test_work": "FAILED"}


def test_fired_and_result_are_told_in_order(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        def pytest_crashwindow_fired(item, window):
            print(f"fired {window}")

        def pytest_crashwindow_window_result(item, window, report):
            print(f"{report.outcome} {window} {report.when}")
            report.sections.append(("mine", "added by a hook"))
        """
    )
    result = run(WORK, "-s")
    assert re.findall(r"(?:fired|passed|failed) work\S+:crash(?: call)?$", result.stdout.str(), re.MULTILINE) == [
        "fired work.a+1:crash",
        "passed work.a+1:crash call",
        "fired work.b+1:crash",
        "failed work.b+1:crash call",
        "fired work.c+1:crash",
        "passed work.c+1:crash call",
    ]
    result.stdout.fnmatch_lines(["*- mine -*", "added by a hook"])


def test_fired_is_not_told_of_a_window_that_was_not_reached(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_crashwindow_fired(window):\n    print(f'fired {window}')\n")
    result = run(WORK, "-s", "test_it.py::test_work[work.b+2:crash]")
    assert "fired work" not in result.stdout.str()


@pytest.mark.parametrize("hook", ["windows", "fired", "window_result"])
def test_an_error_in_a_hook_fails_the_sweep_and_not_the_run(run: Run, pytester: pytest.Pytester, hook: str) -> None:
    pytester.makeconftest(f"def pytest_crashwindow_{hook}():\n    raise ValueError('in the hook')\n")
    result = run(WORK + "\ndef test_after(): pass\n", "-v")
    assert "INTERNALERROR" not in result.stdout.str()
    assert outcomes(result)["test_work"] == "FAILED"
    assert outcomes(result)["test_after"] == "PASSED"
    result.stdout.fnmatch_lines(["*ValueError: in the hook*"])
