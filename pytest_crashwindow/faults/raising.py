"""How the exception of `error` and `lost_ack` is given, and made anew for each time it is raised."""

from __future__ import annotations

import builtins
import copy
import difflib
import importlib
import sys
from typing import Any, Union

from ..errors import BadOption

Raisable = Union[type[BaseException], BaseException, str]  # noqa: UP007  # evaluated on Python 3.9
"""a class, an instance, or a string `"module:Name"` that is imported in the life"""


def check_raisable(given: object) -> None:
    """Raise BadOption unless an exception can be made of it."""
    if isinstance(given, str):
        module, colon, name = given.partition(":")
        if not (module and colon and name):
            dotted, _, last = given.rpartition(".")
            if hasattr(builtins, given):
                dotted, last = "builtins", given
            here = f", here {f'{dotted}:{last}'!r}" if dotted and not colon else ""
            raise BadOption(f"an exception given as text is 'module:Name'{here}, not {given!r}")
        _check_name(given, module, name)
    elif not isinstance(given, BaseException) and not (isinstance(given, type) and issubclass(given, BaseException)):
        raise BadOption(f"an exception is a class, an instance or text 'module:Name', not {given!r}")


def _check_name(given: str, module: str, name: str) -> None:
    """As far as can be told without an import: of a module that is imported already."""
    first = name.partition(".")[0]
    if module in sys.modules and not hasattr(sys.modules[module], first):
        near = difflib.get_close_matches(first, dir(sys.modules[module]), 1)
        hint = f"; did you mean '{module}:{near[0]}'?" if near else ""
        raise BadOption(f"the exception {given!r}: {module} has no {first}{hint}")


def exception_of(given: Raisable, message: str) -> BaseException:
    """The exception to raise.

    A class is called with `message`; one that wants other arguments is called with none.
    An instance is copied where it can be, so that tracebacks of two raisings don't mix.
    Raises BadOption when `given` leads to no exception.
    """
    given = _imported(given)
    if isinstance(given, BaseException):
        return _copied(given)
    try:
        return given(message)
    except TypeError:
        pass
    try:
        return given()
    except TypeError as error:
        raise BadOption(f"{error}: give an instance instead of the class") from None


def _imported(given: Raisable) -> type[BaseException] | BaseException:
    """The class or instance that `given` is or names. Raises BadOption if there is none."""
    if not isinstance(given, str):
        return given
    module, _, path = given.partition(":")
    try:
        place: Any = importlib.import_module(module)
        for name in path.split("."):
            place = getattr(place, name)
    except Exception as error:
        raise BadOption(f"the exception {given!r} can't be imported: {type(error).__name__}: {error}") from None
    if isinstance(place, str):
        raise BadOption(f"{given!r} is no exception but text")
    check_raisable(place)
    found: type[BaseException] | BaseException = place
    return found


def _copied(error: BaseException) -> BaseException:
    try:
        twin = copy.copy(error)
    except Exception:
        return error
    return twin if type(twin) is type(error) and twin.args == error.args else error
