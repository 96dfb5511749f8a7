"""The pytest face of the plugin: options, markers, fixture, hooks. The work is done elsewhere.

pytest imports this module in every run, so it imports little; the rest comes with the first test that
uses the plugin.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import settings as _settings
from .collecting import Collector
from .unfinished import Unfinished

if TYPE_CHECKING:
    from .engine import Engine
    from .fixture import CrashWindow

SETTINGS = pytest.StashKey[_settings.Settings]()
ENGINE = pytest.StashKey["Engine"]()

FIXTURE = "crashwindow"
_LIVES = hasattr(os, "fork")  # else tests run as pytest runs them, and the fixture is an error
SWEEP = "crash_windows"
MARKERS = (
    "crash_at(point, nth=1, *, match=None): kill the process (SIGKILL) that passes this point for the n-th time. "
    "The test fails if none does. Needs the fixture `crashwindow`, as all of these; they can be stacked. match: a glob "
    "for an argument of the point.",
    "lost_ack_at(point, nth=1, *, error=TimeoutError, match=None): the call takes effect, and its caller gets the "
    "exception instead of the answer. nth=None: every time.",
    "error_at(point, error, nth=1, *, match=None): the call doesn't happen, and its caller gets the exception. "
    "nth=None: every time.",
    'pause_at(point, nth=1, *, scope="life", hold=(), match=None): stop the process (SIGSTOP), or with '
    'scope="thread" one thread, until the test resumes it.',
    "duplicate_at(call, nth=1, *, match=None): make an attached call twice; the caller gets the second answer.",
    "delay_at(point, seconds, nth=1, *, match=None): the point takes this much longer.",
    "crash_windows(points=None, *, crash=None, lost_ack=None, error=None, pause=None, duplicate=None, delay=None, "
    "calls=(), depth=None, max_windows=None): run the test twice without a fault, and then once for every point that "
    "it passed, with the fault there. Each such window is reported as a test of its own. Values are globs for points; "
    "without any, the process is killed at every point.",
    "crashwindow_calls(*calls): attach points to calls such as 'shop.mail:Mailer.send' for this test.",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    _settings.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from . import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    settings = config.stash[SETTINGS] = _settings.resolve(config)
    if config.hook.pytest_crashwindow_faults.get_hookimpls():
        for fault in engine_of(config).registered:
            config.addinivalue_line("markers", f"{fault.name}_at(point, ...): {fault.__doc__ or 'a fault of a plugin'}")
    if not hasattr(config, "workerinput"):
        collector = Collector(config)
        config.pluginmanager.register(collector, "crashwindow-collector")
        config.pluginmanager.register(Unfinished(collector.sweeps), "crashwindow-unfinished")
        if settings.report:
            from .report.writing import Reports

            reports = Reports(config, settings.report, settings.sources["report"])
            config.pluginmanager.register(reports, "crashwindow-reports")
        if config.pluginmanager.hasplugin("xdist") and config.getoption("dist", "no") != "no":
            from .xdist import Controller

            config.pluginmanager.register(Controller(config), "crashwindow-xdist")


def engine_of(config: pytest.Config) -> Engine:
    """The engine of this run, made when first needed. Raises UnsupportedPlatform."""
    if ENGINE not in config.stash:
        if not _LIVES:
            from .errors import UnsupportedPlatform

            raise UnsupportedPlatform
        from .engine import Engine

        config.stash[ENGINE] = Engine(config, config.stash[SETTINGS])
    return config.stash[ENGINE]


@pytest.fixture
def crashwindow(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CrashWindow]:
    """Runs code in processes of its own that crash, pause or lose answers at chosen points.
    `crashwindow.run(function, *args)` runs a function in a new process, a *life*, and tells what became of
    it: `life.crashed`, `life.value`, `life.hits`. `supervise` starts it again after each death. `clock`,
    `effects` and directories named by `state` outlive every life. Which faults happen is said by markers:
    `crash_at`, `lost_ack_at`, ... (one place), `crash_windows` (every place); see `pytest --markers`.
    """
    __tracebackhide__ = True
    item = request.node
    assert isinstance(item, pytest.Item)  # this fixture has function scope
    yield from engine_of(request.config).fixture(item, tmp_path, tmp_path_factory.getbasetemp())


@pytest.fixture
def _crashwindow_pin() -> None:
    """Parametrized in sweeps: which window or shard an item is."""


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker(SWEEP) is not None:
        from . import choosing, xdist

        config = metafunc.config
        choosing.generate(metafunc, xdist.shards(config), bool(config.stash[SETTINGS].controls_only))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(_is_sweep(item) for item in items):
        from . import choosing

        choosing.modify(config, items, _is_sweep)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if not _uses(item) and (_is_sweep(item) or _arming(item)):
        pytest.fail(
            f"the marker {SWEEP if _is_sweep(item) else _arming(item)} arms a fault, but the test doesn't use the "
            "fixture `crashwindow`, so it starts no life in which the fault could fire. Ask for the fixture: "
            "def test_x(crashwindow): ...",
            pytrace=False,
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if not _uses(item):
        return None
    engine_of(item.config).protocol(item, nextitem)
    return True


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    return True if _uses(item) and engine_of(item.config).takes_timer(item, settings) else None


@pytest.hookimpl
def pytest_enter_pdb(config: pytest.Config) -> None:
    engine = config.stash.get(ENGINE, None)
    if engine is not None:
        engine.debugging()


def _uses(item: pytest.Item) -> bool:
    return _LIVES and FIXTURE in getattr(item, "fixturenames", ())


def _is_sweep(item: pytest.Item) -> bool:
    return item.get_closest_marker(SWEEP) is not None


def _arming(item: pytest.Item) -> str | None:
    """The marker of an item, if it has one, that arms a fault at a place."""
    names = [mark.name for mark in item.iter_markers()] if _LIVES else []
    return next((name for name in names if name.endswith("_at") and _is_ours(item.config, name)), None)


def _is_ours(config: pytest.Config, marker: str) -> bool:
    return engine_of(config).faults.by_marker(marker) is not None
