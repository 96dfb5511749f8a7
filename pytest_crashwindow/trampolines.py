"""Putting handlers in front of a Python function, in place.

The function's `__code__` is swapped for a trampoline of the same kind and with the same parameters,
which hands its arguments to a handler, together with a twin that still has the original code. So every
name, bound method, closure and container that holds the function leads to the handler, and the function
object, its identity, its signature and its defaults stay what they were.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from .tracker import TRAMPOLINE

FUNCTION = "function"
COROUTINE = "coroutine function"
GENERATOR = "generator function"
ASYNC_GENERATOR = "async generator function"

Handler = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
"""`handler(original, args, kwargs)`, of the function's own kind: `async def` for a coroutine function, a
generator function for a generator function. For an async generator function it returns anything with
`asend`, `athrow` and `aclose`. `args` holds every parameter that may be given by position, whichever way
it was given, defaults included; `kwargs` the others."""

# In a trampoline's code, until the real objects are put there.
_HANDLER, _TWIN, _FIRST_STEP = 1.25, 2.5, 3.75

_PLAIN = """\
{define} trampoline({parameters}):
    __tracebackhide__ = True
    __crashwindow__ = {handler}
    return ({wait} __crashwindow__({twin}, {args}, {kwargs}))
"""

# What `yield from` does for a generator, for an async one (PEP 380, PEP 525).
_ASYNC_GENERATOR = """\
async def trampoline({parameters}):
    __tracebackhide__ = True
    __crashwindow__ = {handler}
    __crashwindow__ = __crashwindow__({twin}, {args}, {kwargs})
    __crashwindow_value__ = {first_step}
    try:
        __crashwindow_value__ = await __crashwindow_value__(__crashwindow__)
        while True:
            try:
                __crashwindow_value__ = yield __crashwindow_value__
            except GeneratorExit:
                await __crashwindow__.aclose()
                raise
            except BaseException as __crashwindow_error__:
                __crashwindow_value__ = await __crashwindow__.athrow(__crashwindow_error__)
            else:
                __crashwindow_value__ = await __crashwindow__.asend(__crashwindow_value__)
    except StopAsyncIteration:
        pass
"""

_CODE = {
    FUNCTION: (_PLAIN, {"define": "def", "wait": ""}),
    COROUTINE: (_PLAIN, {"define": "async def", "wait": "await"}),
    GENERATOR: (_PLAIN, {"define": "def", "wait": "yield from"}),
    ASYNC_GENERATOR: (_ASYNC_GENERATOR, {}),
}


def kind_of_code(code: CodeType) -> str:
    """Which of the four kinds of function has this code."""
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        return ASYNC_GENERATOR
    if code.co_flags & inspect.CO_COROUTINE:
        return COROUTINE
    return GENERATOR if code.co_flags & inspect.CO_GENERATOR else FUNCTION


class Trampoline:
    """The handlers of one function; it has one trampoline, however many they are."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.handlers: list[Handler] = []
        self._code = function.__code__
        self._twin = _twin(function)
        self._is_wrapper = "__wrapped__" in function.__dict__

    @classmethod
    def of(cls, function: FunctionType) -> Trampoline:
        """The trampoline of a function, which gets one (with no effect yet) if it has none."""
        for constant in reversed(function.__code__.co_consts):
            if isinstance(constant, Trampoline):
                return constant
        return cls(function)

    def add(self, handler: Handler) -> None:
        """Put a handler in front of the function and of the handlers that it has."""
        self.handlers.append(handler)
        self._install()

    def remove(self, handler: Handler) -> None:
        """Take a handler away; with the last one the function gets its own code back."""
        self.handlers.remove(handler)
        if self.handlers:
            self._install()
            return
        self.function.__code__ = self._code
        if not self._is_wrapper:
            self.function.__dict__.pop("__wrapped__", None)

    def _install(self) -> None:
        original: Callable[..., Any] = self._twin
        for handler in self.handlers[:-1]:
            original = _behind(handler, original)
        real = {_HANDLER: self.handlers[-1], _TWIN: original, _FIRST_STEP: _first_step}
        template = _template(self._code)
        constants = [real[c] if type(c) is float else c for c in template.co_consts]
        self.function.__code__ = template.replace(co_consts=(*constants, self))
        if not self._is_wrapper:
            # `inspect.signature`, `getsource` and the like follow this to the code that people wrote.
            self.function.__dict__["__wrapped__"] = self._twin


def _behind(handler: Handler, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return handler(original, args, kwargs)

    return call


def _first_step(generator: Any) -> Any:
    """The awaitable for the first value, made so that the event loop doesn't hear of this generator.

    The loop closes all generators that it knows at its end; it must leave this one to the trampoline.
    """
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        return generator.asend(None)
    finally:
        sys.set_asyncgen_hooks(*hooks)


def _twin(function: FunctionType) -> FunctionType:
    """Another function with the same code; it shares the closure, so that `super()` works in it."""
    twin = FunctionType(function.__code__, function.__globals__, closure=function.__closure__)
    twin.__defaults__, twin.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    for name in functools.WRAPPER_ASSIGNMENTS:
        setattr(twin, name, getattr(function, name))
    twin.__dict__.update(function.__dict__)
    return twin


def _template(code: CodeType) -> CodeType:
    """The trampoline's code for a function with this code, with placeholders for handler and twin."""
    template = _compiled(_source(code))
    # A function's code must have as many free variables as the function has cells; the trampoline
    # leaves them alone. `types.coroutine` marks generators by a flag.
    flags = template.co_flags | code.co_flags & (inspect.CO_ITERABLE_COROUTINE | inspect.CO_NESTED)
    template = template.replace(co_freevars=code.co_freevars, co_name=code.co_name, co_flags=flags)
    if hasattr(code, "co_qualname"):  # Python 3.11
        template = template.replace(co_qualname=code.co_qualname)
    return template


@functools.cache
def _compiled(source: str) -> CodeType:
    module = compile(source, TRAMPOLINE, "exec", dont_inherit=True)
    return next(constant for constant in module.co_consts if isinstance(constant, CodeType))


def _source(code: CodeType) -> str:
    count, names = code.co_argcount, list(code.co_varnames)
    positional, rest = names[:count], names[count:]
    by_name, rest = rest[: code.co_kwonlyargcount], rest[code.co_kwonlyargcount :]
    star = rest.pop(0) if code.co_flags & inspect.CO_VARARGS else ""
    stars = rest.pop(0) if code.co_flags & inspect.CO_VARKEYWORDS else ""

    parameters = list(positional)
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if star or by_name:
        parameters.append(f"*{star}")
    parameters += by_name
    if stars:
        parameters.append(f"**{stars}")

    args = [*positional, *([f"*{star}"] if star else [])]
    kwargs = [*(f"{name!r}: {name}" for name in by_name), *([f"**{stars}"] if stars else [])]
    text, words = _CODE[kind_of_code(code)]
    return text.format(
        **words,
        parameters=", ".join(parameters),
        args="(" + "".join(f"{arg}, " for arg in args) + ")",
        kwargs="{" + ", ".join(kwargs) + "}",
        handler=_HANDLER,
        twin=_TWIN,
        first_step=_FIRST_STEP,
    )
