"""Options: one table, from which flags, ini values and environment variables are made and checked.

marker > command line > environment > ini.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, Literal

import pytest

PREFIX = "crashwindow_"

IniType = Literal["string", "linelist", "bool", "int", "float"]


class _Complaint(ValueError):
    """What is wrong with a value, in full."""


class Option:
    """One setting. `flag` False means that it has no command-line flag.

    A plain class: to generate a dataclass or named tuple would cost every start of pytest a millisecond.
    """

    def __init__(
        self,
        name: str,
        parse: Callable[[str], Any],
        default: Any,
        help: str,
        ini_type: IniType = "string",
        flag: bool = True,
        metavar: str | None = None,
    ) -> None:
        self.name, self.parse, self.default, self.help = name, parse, default, help
        self.ini_type, self.flag, self.metavar = ini_type, flag, metavar


def _whole(minimum: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text)
        if value < minimum:
            raise ValueError
        return value

    parse.__doc__ = f"a whole number from {minimum}"
    return parse


def _seconds(text: str) -> float:
    """a number of seconds above 0"""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            import difflib

            near = difflib.get_close_matches(text, words, 1)
            raise ValueError(f"did you mean {near[0]!r}?" if near else "")
        return text

    parse.__doc__ = "one of " + ", ".join(words)
    return parse


def _yes(text: str) -> bool:
    """true or false"""
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off", ""):
        return False
    raise ValueError


def _names(text: str) -> tuple[str, ...]:
    """names or globs, one in a line (in the environment also separated by commas)"""
    return tuple(name.strip() for line in text.splitlines() for name in line.split(",") if name.strip())


def _calls(text: str) -> tuple[str, ...]:
    """calls such as shop.mail:Mailer.send, one in a line (in the environment also separated by commas)"""
    calls = _names(text)
    if calls:
        from .calls import split
        from .errors import NotAttachable

        try:
            for call in calls:
                split(call)
        except NotAttachable as error:
            raise _Complaint(str(error)) from None
    return calls


OPTIONS = (
    Option(
        "points",
        _names,
        (),
        "globs for the points to use; !GLOB excludes (default: the project's own audit events, attached calls, probes)",
        "linelist",
        flag=False,
    ),
    Option(
        "calls",
        _calls,
        (),
        "calls to attach points to, in any code: shop.mail:Mailer.send",
        "linelist",
        flag=False,
    ),
    Option(
        "probes",
        _names,
        None,
        "built-in points to use: sqlite3, files, http, smtp, subprocess (default: all)",
        "linelist",
        flag=False,
    ),
    Option("list", _yes, False, "try nothing: list the points and windows of each sweep", "bool"),
    Option("window", str, None, "run only this window of the selected sweeps, such as shop.paid+1:crash", metavar="ID"),
    Option(
        "depth",
        _whole(1),
        1,
        "2: sweep what runs after a fault as well (crash during recovery); default: 1",
        "int",
        metavar="N",
    ),
    Option(
        "max_windows",
        _whole(1),
        None,
        "run a sample: at most so many windows of each sweep (default: all)",
        "int",
        metavar="N",
    ),
    Option("seed", _whole(0), 0, "which sample --crashwindow-max-windows draws (default: 0)", "int", metavar="N"),
    Option(
        "report",
        _names,
        (),
        "write a report of the sweeps: PATH ends in .html, .json or .md; may be repeated",
        "linelist",
        metavar="PATH",
    ),
    Option(
        "life_timeout",
        _seconds,
        30.0,
        "seconds after which a started process counts as hung (default: 30)",
        "float",
        metavar="S",
    ),
    Option(
        "death",
        _one_of("kill", "exit"),
        "kill",
        "how a crash ends a process: kill (SIGKILL, the default), or exit (os._exit, for coverage)",
        metavar="HOW",
    ),
    Option("off", _yes, False, "run each test once and without any fault", "bool"),
)


class Settings(SimpleNamespace):
    """The options of a run, resolved."""

    points: tuple[str, ...]
    calls: tuple[str, ...]
    probes: tuple[str, ...] | None
    list: bool
    window: str | None
    depth: int
    max_windows: int | None
    seed: int
    report: tuple[str, ...]
    life_timeout: float
    death: str
    off: bool
    sources: dict[str, str]
    """name -> where the value came from, such as `crashwindow_depth in pytest.ini`; of given ones"""

    @property
    def controls_only(self) -> str | None:
        """Where it is asked that no window be run, if it is."""
        return next((self.sources[name] for name in ("off", "list") if getattr(self, name)), None)


def add_options(parser: pytest.Parser) -> None:
    """Declare every option as flag and ini value."""
    group = parser.getgroup("crashwindow", "crash windows")
    for option in OPTIONS:
        parser.addini(PREFIX + option.name, option.help, type=option.ini_type, default=None)
        if not option.flag:
            continue
        flag, dest = f"--crashwindow-{option.name.replace('_', '-')}", PREFIX + option.name
        if option.ini_type == "bool":
            group.addoption(flag, dest=dest, action="store_const", const="true", default=None, help=option.help)
        else:
            action = "append" if option.ini_type == "linelist" else "store"
            group.addoption(flag, dest=dest, action=action, default=None, metavar=option.metavar, help=option.help)


def resolve(config: pytest.Config) -> Settings:
    """All options, or a UsageError that says which value is wrong and where it came from."""
    _refuse_unknown_names(config)
    sources: dict[str, str] = {}
    values = {option.name: _resolved(config, option, sources) for option in OPTIONS}
    return Settings(**values, sources=sources)


def _resolved(config: pytest.Config, option: Option, sources: dict[str, str]) -> Any:
    for given, source in _sources(config, option):
        sources[option.name] = source
        try:
            return option.parse(given)
        except _Complaint as error:
            raise pytest.UsageError(f"{source}: {error}") from None
        except ValueError as error:
            expected = (option.parse.__doc__ or "").strip()
            hint = f"; {error}" if str(error).startswith("did you mean") else ""
            raise pytest.UsageError(f"{source}: expected {expected}, got {given!r}{hint}") from None
    return option.default


def _sources(config: pytest.Config, option: Option) -> list[tuple[str, str]]:
    """The given values as text, the strongest first, each with where it came from."""
    name = PREFIX + option.name
    flag = config.getoption(name, None) if option.flag else None
    environment = os.environ.get(name.upper())
    try:
        ini = config.getini(name)
    except (TypeError, ValueError, pytest.UsageError):
        expected = (option.parse.__doc__ or "").strip()
        given = _ini_values(config).get(name)
        source, value = _ini_source(config, name), getattr(given, "value", given)
        raise pytest.UsageError(f"{source}: expected {expected}, got {value!r}") from None
    found = [
        (flag, f"--{name.replace('_', '-')}"),
        (environment, name.upper()),
        (ini, _ini_source(config, name)),
    ]
    return [(_as_text(value), source) for value, source in found if value is not None]


def _as_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(str(v) for v in value)
    return str(value)


def _ini_source(config: pytest.Config, name: str) -> str:
    overridden = any(given.startswith(f"{name}=") for given in config.getoption("override_ini", None) or ())
    if overridden or config.inipath is None:
        return f"-o {name}"
    return f"{name} in {config.inipath.name}"


def _refuse_unknown_names(config: pytest.Config) -> None:
    known = [PREFIX + option.name for option in OPTIONS]
    for name in _ini_values(config):
        if name.startswith(PREFIX.rstrip("_")) and name not in known and not _is_declared(config, name):
            raise pytest.UsageError(f"unknown setting {_ini_source(config, name)}; {_meant(name, known)}")
    in_capitals = [name.upper() for name in known]
    for name in os.environ:
        if name.startswith(PREFIX.upper()) and name not in in_capitals:
            raise pytest.UsageError(f"unknown environment variable {name}; {_meant(name, in_capitals)}")


def _ini_values(config: pytest.Config) -> Mapping[str, Any]:
    """What the configuration file says, unparsed. pytest 9 warns of the public name, and has no other."""
    values: Mapping[str, Any] = getattr(config, "_inicfg", None) or vars(config).get("inicfg", {})
    return values


def _is_declared(config: pytest.Config, name: str) -> bool:
    """Whether another plugin has a setting of this name."""
    try:
        config.getini(name)
    except ValueError:
        return False
    return True


def _meant(name: str, known: list[str]) -> str:
    import difflib

    start = len(PREFIX)
    own = {one[start:]: one for one in known}
    near = difflib.get_close_matches(name[start:], own, 1)
    return f"did you mean {own[near[0]]}?" if near else f"there are {', '.join(known)}"
