"""How the exception of `error` and `lost_ack` is given, and made anew for each time it is raised."""

from __future__ import annotations

import copy
import importlib
from typing import Union

Raisable = Union[type[BaseException], BaseException, str]
"""a class, an instance, or a string `"module:Name"` that is imported in the life"""


def exception_of(given: Raisable, message: str) -> BaseException:
    """The exception to raise.

    A class is called with `message`; one that wants other arguments is called with none.
    An instance is copied where it can be, so that tracebacks of two raisings don't mix.
    Raises ImportError, AttributeError or TypeError when `given` leads to no exception.
    """
    if isinstance(given, str):
        module, _, name = given.partition(":")
        given = _found(importlib.import_module(module), name)
    if isinstance(given, BaseException):
        return _copied(given)
    if not (isinstance(given, type) and issubclass(given, BaseException)):
        raise TypeError(f"{given!r} is neither an exception nor a string 'module:Name'")
    try:
        return given(message)
    except TypeError:
        return given()


def _found(place: object, path: str) -> Raisable:
    for name in path.split("."):
        place = getattr(place, name)
    return place  # type: ignore[return-value]  # checked by the caller


def _copied(error: BaseException) -> BaseException:
    try:
        twin = copy.copy(error)
    except Exception:
        return error
    return twin if type(twin) is type(error) and twin.args == error.args else error
