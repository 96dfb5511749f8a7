"""Which windows a run asks for: pasted node ids, `--lf`, `--ff`, `--sw`, `-k`, and shards under xdist.

Windows aren't known at collection. A window that is asked for by its id becomes an item of its own, by
parametrizing its test with a hidden argument; everything else is decided inside the sweep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from .windows import Window, parse

ARGUMENT = "_crashwindow_pin"
"""the hidden argument of sweep items"""
DESELECTED = "the others were deselected"
"""why a sweep explored a part of its windows"""


@dataclass(frozen=True)
class Pin:
    """What one item of a sweep stands for."""

    window: Window | None = None
    """the only window to run"""
    shard: int = 0
    """which of the items that share a sweep among the workers of xdist; 0 is the test itself"""

    @property
    def label(self) -> str | None:
        """Its part of the node id."""
        if self.window is not None:
            return str(self.window)
        return f"~{self.shard}" if self.shard else None


def pin_of(item: pytest.Item) -> Pin:
    """What an item stands for; the whole sweep unless it was asked otherwise."""
    callspec = getattr(item, "callspec", None)
    pin = callspec.params.get(ARGUMENT) if callspec is not None else None
    return pin if isinstance(pin, Pin) else Pin()


def generate(metafunc: pytest.Metafunc, shards: int, controls_only: bool) -> None:
    """Make items for the windows that are asked for by id, and `shards` items for the sweep itself.

    With `controls_only` windows that failed last aren't asked for.
    """
    failed = [] if controls_only else _last_failed(metafunc.config, "lf")
    pins = [Pin(window) for window in _asked_for(metafunc, [*metafunc.config.args, *failed])]
    pins += [Pin(shard=n) for n in range(1, shards)]
    if not pins:
        return
    if ARGUMENT not in metafunc.fixturenames:
        metafunc.fixturenames.append(ARGUMENT)
    labels = [_Label(pin.label or "") for pin in pins]
    metafunc.parametrize(ARGUMENT, [Pin(), *pins], ids=[pytest.HIDDEN_PARAM, *labels])


class _Label:
    """An id that pytest takes as it is: of text it would escape the backslashes."""

    def __init__(self, text: str) -> None:
        self.__name__ = text


def _asked_for(metafunc: pytest.Metafunc, nodeids: Iterable[str]) -> list[Window]:
    definition, config = metafunc.definition, metafunc.config
    classes = [node.name for node in definition.listchain() if isinstance(node, pytest.Class)]
    names = [*classes, definition.originalname]
    found: dict[Window, None] = {}
    for nodeid in nodeids:
        base, bracket, rest = nodeid.partition("[")
        path, *parts = base.split("::")
        if bracket and parts == names and _same_path(config, path, definition.path):
            found.update(dict.fromkeys(_windows_in(rest.removesuffix("]"))))
    return list(found)


def _windows_in(arguments: str) -> list[Window]:
    """Every way to read the end of an id as a window; other parameters of the test come before it."""
    ends = [arguments, *(arguments[i + 1 :] for i, c in enumerate(arguments) if c == "-")]
    return [window for end in ends if (window := parse(end)) is not None]


def _same_path(config: pytest.Config, given: str, path: Path) -> bool:
    roots = (config.rootpath, config.invocation_params.dir)
    return any((root / given).resolve() == path.resolve() for root in roots)


def _last_failed(config: pytest.Config, option: str) -> list[str]:
    """The failures of the run before, if this option of pytest's cache is in use."""
    cache = getattr(config, "cache", None)
    if cache is None or not config.getoption(option, False):
        return []
    return list(cache.get("cache/lastfailed", {}))


# -- after collection ------------------------------------------------------------------------


def modify(config: pytest.Config, items: list[pytest.Item], is_sweep: Callable[[pytest.Item], bool]) -> None:
    """Let `-k` words that only windows have start sweeps; let `--lf` leave out whole sweeps."""
    sweeps = [item for item in items if is_sweep(item)]
    if not sweeps:
        return
    _leave_to_failed_windows(config, items, sweeps)
    keyword = config.option.keyword.strip()
    if keyword:
        _offer_words_of_windows(keyword, items, sweeps)


def _leave_to_failed_windows(config: pytest.Config, items: list[pytest.Item], sweeps: list[pytest.Item]) -> None:
    failed = set(_last_failed(config, "lf"))
    pinned = {whole_id(item) for item in sweeps if pin_of(item).window and item.nodeid in failed}
    dropped = [item for item in sweeps if not pin_of(item).window and whole_id(item) in pinned]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


def _offer_words_of_windows(keyword: str, items: Iterable[pytest.Item], sweeps: Iterable[pytest.Item]) -> None:
    known = set().union(*(_words_of(item) for item in items))
    unknown = {word for word in _words(keyword) if not any(word in name for name in known)}
    for item in sweeps:
        words = _words_of(item)
        if unknown and not _evaluates(keyword, words) and _evaluates(keyword, words | unknown):
            item.extra_keyword_matches |= unknown


def chooses_windows(config: pytest.Config) -> bool:
    """Whether `-k` or `--deselect` may leave windows out."""
    return bool(config.option.keyword.strip() or config.option.deselect)


def is_chosen(item: pytest.Item, window: Window) -> bool:
    """Whether `-k` selects this window of a sweep, and `--deselect` doesn't name it."""
    if window_id(item, window).startswith(tuple(item.config.option.deselect or ())):
        return False
    keyword = item.config.option.keyword.strip()
    if not keyword:
        return True
    words = _words_of(item) - {word for word in _words(keyword) if word in item.extra_keyword_matches}
    return _evaluates(keyword, words | {f"{item.name}[{window}]".lower()})


_TOKEN = re.compile(r"[()]|[\w:+.\-\[\]\\/]+")
_OPERATORS = ("(", ")", "and", "or", "not")


def _words(keyword: str) -> list[str]:
    return [token.lower() for token in _TOKEN.findall(keyword) if token not in _OPERATORS]


def _evaluates(keyword: str, names: set[str]) -> bool:
    """`-k` as pytest means it: a word is true if it is part of a name. Only operators reach `eval`."""
    tokens = [
        token if token in _OPERATORS else str(any(token.lower() in name for name in names))
        for token in _TOKEN.findall(keyword)
    ]
    try:
        return bool(eval(" ".join(tokens), {"__builtins__": {}}))
    except SyntaxError:
        return False  # pytest itself reports it


def _words_of(item: pytest.Item) -> set[str]:
    names = {node.name for node in item.listchain() if not isinstance(node, pytest.Session)}
    for node in item.listchain():
        names |= node.extra_keyword_matches
    names |= {mark.name for mark in item.iter_markers()}
    names |= set(getattr(getattr(item, "function", None), "__dict__", ()))
    return {name.lower() for name in names}


def in_order(item: pytest.Item, windows: list[Window]) -> list[Window]:
    """The windows as `--ff` and `--sw` want them: failed ones first; or from the first failed one on."""
    config = item.config
    failed = set(_last_failed(config, "failedfirst"))
    if failed:
        return sorted(windows, key=lambda window: window_id(item, window) not in failed)
    failed = set(_last_failed(config, "stepwise")) if _stepped_before(config) else set()
    starts = [i for i, window in enumerate(windows) if window_id(item, window) in failed]
    return windows[starts[0] :] if starts else windows


def _stepped_before(config: pytest.Config) -> bool:
    """Whether a run with `--sw` has stopped at a failure before."""
    cache = getattr(config, "cache", None)
    kept = cache.get("cache/stepwise", None) if cache is not None else None
    return bool(kept.get("last_failed") if isinstance(kept, dict) else kept)


# -- node ids --------------------------------------------------------------------------------


def whole_id(item: pytest.Item) -> str:
    """The node id of the sweep that an item stands for or is a part of."""
    label = pin_of(item).label
    if label is None:
        return item.nodeid
    base = item.nodeid[: -len(label) - 1]  # also the closing bracket
    return base.removesuffix("[") if base.endswith("[") else f"{base.removesuffix('-')}]"


def window_id(item: pytest.Item, window: Window) -> str:
    """The node id of a window: `test_x[POINT+N:FAULT]`, parametrized `test_x[a-POINT+N:FAULT]`."""
    base = whole_id(item)
    return f"{base[:-1]}-{window}]" if base.endswith("]") else f"{base}[{window}]"
