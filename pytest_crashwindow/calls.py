"""Attaching points to calls that one doesn't own: `pkg.module:function`, `pkg.module:Class.method`.

`resolve` says what a call's name leads to in the modules imported so far, and how it can be attached:

* a Python function, wherever it sits, gets a trampoline (`trampolines.py`), so that every way to reach
  it counts;
* anything else that is called by a module's names (built-in, compiled, `lru_cache`d, `partial`) is
  replaced under all the names that lead to it;
* anything else that sits in a class is replaced in that class.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any

from . import originals
from .errors import NotAttachable
from .faults.base import Action
from .tracker import Tracker
from .trampolines import ASYNC_GENERATOR, COROUTINE, FUNCTION, GENERATOR, Handler, Trampoline, kind_of_code

CODE, NAMES, CLASS = "code", "names", "class"  # how a call is attached

Original = Callable[..., Any]
Args = tuple[Any, ...]
KwArgs = dict[str, Any]
Filter = Callable[[Args], bool]

_IMMUTABLE, _HEAP = 1 << 8, 1 << 9  # Py_TPFLAGS_IMMUTABLETYPE, Py_TPFLAGS_HEAPTYPE
_PROBES = {"sqlite3": "sqlite3", "_sqlite3": "sqlite3", "_io": "files", "io": "files", "os": "files"}


# -- what a name means ---------------------------------------------------------------------------


def split(call: str) -> tuple[str, list[str]]:
    """`"pkg.module:Class.method"` -> `("pkg.module", ["Class", "method"])`; raises NotAttachable."""
    module, colon, path = call.partition(":")
    names = path.split(".")
    if colon and all(name.isidentifier() for name in [*module.split("."), *names]):
        return module, names
    parent, _, last = call.rpartition(".")
    meant = f"; did you mean {parent}:{last}?" if parent and not colon else ""
    raise NotAttachable(f"{call!r} is no call: write pkg.module:function or pkg.module:Class.method{meant}")


@dataclass(frozen=True)
class Target:
    """Where a call is, and how it can be attached."""

    call: str
    how: str
    """`CODE`, `NAMES` or `CLASS`"""
    kind: str
    """which kind of function it is, see `trampolines`"""
    original: Any
    """the function or other callable; of `CLASS` what sits in the class"""
    owner: Any
    """the module, class or instance that has it by `name`"""
    name: str
    receiver: int = 0
    """1 if the first argument is `self` or `cls`, which is no argument to people; else 0"""
    meant: Filter | None = None
    """whether arguments are of the call that is meant, where others share its code"""


def resolve(call: str) -> Target:
    """Find a call whose module is imported. Raises NotAttachable with a hint."""
    module, path = split(call)
    owner: Any = sys.modules[module]
    for name in path[:-1]:
        owner = _member(call, owner, name)[0]
    found, definer = _member(call, owner, path[-1])
    if isinstance(found, type):
        raise NotAttachable(f"{call} is a class: attach {call}.__init__ for its construction")
    if isinstance(owner, type):
        return _in_class(call, owner, path[-1], found, definer)
    return _elsewhere(call, owner, path[-1], found)


def _member(call: str, owner: Any, name: str) -> tuple[Any, Any]:
    """What `owner` has by that name, unbound if it's a class, and who defines it."""
    if isinstance(owner, type):
        for base in owner.__mro__:
            if name in base.__dict__:
                return base.__dict__[name], base
    try:
        return getattr(owner, name), owner
    except AttributeError:
        raise NotAttachable(f"{call}: {_shown(owner)} has no {name!r}{_near(name, dir(owner))}") from None


def _in_class(call: str, owner: type, name: str, found: Any, definer: type) -> Target:
    inherited = definer is not owner
    if definer is object:
        raise NotAttachable(f"{call}: {_shown(owner)} has no {name} of its own, only that of every object")
    if isinstance(found, staticmethod) and isinstance(found.__func__, FunctionType):
        if name == "__new__":
            return _code(call, owner, name, found.__func__, 1, _of_class(owner) if inherited else None)
        if inherited:
            where = f"{definer.__module__}:{definer.__qualname__}.{name}"
            raise NotAttachable(
                f"{call} is a static method of {_shown(definer)}, which isn't told by which class "
                f"it's called: attach {where}"
            )
        return _code(call, owner, name, found.__func__)
    if isinstance(found, classmethod) and isinstance(found.__func__, FunctionType):
        return _code(call, owner, name, found.__func__, 1, _of_class(owner) if inherited else None)
    function = _function_of(found)
    if function is not None:
        return _code(call, owner, name, function, 1, _of_instance(owner) if inherited else None)
    if not _is_called(found, owner, name):
        raise NotAttachable(f"{call} is {_shown(found)}, which is not called")
    if _is_immutable(owner):
        raise NotAttachable(f"{call}: {_shown(owner)} is written in C and fixed; {_way_out(owner)}")
    return Target(call, CLASS, _kind(found), found, owner, name)


def _function_of(found: Any) -> FunctionType | None:
    """The Python function that runs for a method, a property or a cached property."""
    if isinstance(found, FunctionType):
        return found
    if callable(found) or isinstance(found, (functools.partialmethod, functools.singledispatchmethod)):
        return None
    # `func` is the name in functools.cached_property, Django and Werkzeug; `fget` in property and its kin.
    functions = (getattr(found, name, None) for name in ("fget", "func", "wrapped"))
    return next((function for function in functions if isinstance(function, FunctionType)), None)


def _is_called(found: Any, owner: type, name: str) -> bool:
    return callable(found) or (hasattr(type(found), "__get__") and callable(getattr(owner, name, None)))


def _elsewhere(call: str, owner: Any, name: str, found: Any) -> Target:
    if isinstance(found, FunctionType):
        return _code(call, owner, name, found)
    if isinstance(found, MethodType) and isinstance(found.__func__, FunctionType):
        return _code(call, owner, name, found.__func__, 1, _on(found.__self__))
    if not callable(found):
        raise NotAttachable(f"{call} is {_shown(found)}, which is not called")
    own_call = inspect.getattr_static(type(found), "__call__")
    if isinstance(own_call, FunctionType) and not isinstance(found, Replacement):
        return _code(call, owner, name, own_call, 1, _on(found))
    if getattr(owner, "__dict__", {}).get(name) is not found:
        raise NotAttachable(f"{call} is made anew each time it is asked for; {_way_out(type(owner))}")
    return Target(call, NAMES, _kind(found), found, owner, name)


def _code(
    call: str, owner: Any, name: str, function: FunctionType, receiver: int = 0, meant: Filter | None = None
) -> Target:
    return Target(call, CODE, kind_of_code(function.__code__), function, owner, name, receiver, meant)


def _of_instance(owner: type) -> Filter:
    return lambda args: bool(args) and isinstance(args[0], owner)


def _of_class(owner: type) -> Filter:
    return lambda args: bool(args) and isinstance(args[0], type) and issubclass(args[0], owner)


def _on(receiver: Any) -> Filter:
    return lambda args: bool(args) and args[0] is receiver


def _kind(found: Any) -> str:
    if inspect.iscoroutinefunction(found):
        return COROUTINE
    if inspect.isasyncgenfunction(found):
        return ASYNC_GENERATOR
    return GENERATOR if inspect.isgeneratorfunction(found) else FUNCTION


def _is_immutable(owner: type) -> bool:
    return bool(owner.__flags__ & _IMMUTABLE) or not owner.__flags__ & _HEAP


def _way_out(owner: type) -> str:
    probe = _PROBES.get(owner.__module__.partition(".")[0])
    use = f"use the points of the probe {probe!r}, or " if probe else ""
    return use + "attach the Python function that calls it"


def _shown(thing: Any) -> str:
    if isinstance(thing, ModuleType):
        return f"the module {thing.__name__}"
    if isinstance(thing, type):
        return f"the class {thing.__module__}:{thing.__qualname__}"
    return f"an object of type {type(thing).__qualname__}"


def _near(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=3)
    return "; did you mean " + " or ".join(near) + "?" if near else ""


# -- which faults a kind of call can take --------------------------------------------------------


def refusal(call: str, kind: str, fault: str) -> str | None:
    """Why a fault makes no sense at a call of this kind, or None if it does."""
    if kind not in (GENERATOR, ASYNC_GENERATOR) or fault not in ("duplicate", "lost_ack"):
        return None
    return (
        f"{fault} is refused at {call}: it is {'an' if kind == ASYNC_GENERATOR else 'a'} {kind}, "
        f"whose answer is no single value; attach the function that consumes it"
    )


# -- the points of a call ------------------------------------------------------------------------


class CallPoints:
    """`CALL:enter` and `CALL:exit` around one call; its methods are handlers for each kind."""

    def __init__(self, target: Target, tracker: Tracker) -> None:
        self.call, self.kind = target.call, target.kind
        self.enter, self.exit = f"{target.call}:enter", f"{target.call}:exit"
        self.tracker = tracker
        self._receiver, self._meant = target.receiver, target.meant
        self._defaults, self._by_name = _defaults(target)
        kinds = {COROUTINE: self.coroutine, GENERATOR: self.generator, ASYNC_GENERATOR: self.async_generator}
        self.handler: Handler = kinds.get(target.kind, self.function)

    def function(self, original: Original, args: Args, kwargs: KwArgs) -> Any:
        __tracebackhide__ = True
        if not self.tracker.active or (self._meant is not None and not self._meant(args)):
            return original(*args, **kwargs)
        given = self._given(args, kwargs)
        twice = self.tracker.passed(self.enter, given) is Action.TWICE
        answer = original(*args, **kwargs)
        if hasattr(type(answer), "cr_await"):  # made by an ordinary function that wraps an `async def`
            return self._awaited(answer, original(*args, **kwargs) if twice else None, given)
        if twice:
            answer = original(*args, **kwargs)
        self.tracker.passed(self.exit, given)
        return answer

    def _awaited(self, first: Any, second: Any, given: Args) -> Any:
        async def awaited() -> Any:
            __tracebackhide__ = True
            answer = await first
            if second is not None:
                answer = await second
            later: list[float] = []
            self.tracker.passed(self.exit, given, later=later)
            if later:
                await _rest(later)
            return answer

        coroutine: Any = awaited()
        coroutine.__name__, coroutine.__qualname__ = first.__name__, first.__qualname__
        return coroutine

    async def coroutine(self, original: Original, args: Args, kwargs: KwArgs) -> Any:
        __tracebackhide__ = True
        if not self.tracker.active or (self._meant is not None and not self._meant(args)):
            return await original(*args, **kwargs)
        given = self._given(args, kwargs)
        later: list[float] = []
        twice = self.tracker.passed(self.enter, given, later=later) is Action.TWICE
        if later:
            await _rest(later)
        answer = await original(*args, **kwargs)
        if twice:
            answer = await original(*args, **kwargs)
        self.tracker.passed(self.exit, given, later=later)
        if later:
            await _rest(later)
        return answer

    def generator(self, original: Original, args: Args, kwargs: KwArgs) -> Generator[Any, Any, Any]:
        __tracebackhide__ = True
        if not self.tracker.active or (self._meant is not None and not self._meant(args)):
            return (yield from original(*args, **kwargs))
        given = self._given(args, kwargs)
        self._enter_once(given)
        answer = yield from original(*args, **kwargs)
        self.tracker.passed(self.exit, given)
        return answer

    def async_generator(self, original: Original, args: Args, kwargs: KwArgs) -> Any:
        __tracebackhide__ = True
        if not self.tracker.active or (self._meant is not None and not self._meant(args)):
            return original(*args, **kwargs)
        given = self._given(args, kwargs)
        self._enter_once(given)
        exhausted = functools.partial(self.tracker.passed, self.exit, given)
        return _Exhaustible(original(*args, **kwargs), exhausted)

    def _enter_once(self, given: Args) -> None:
        __tracebackhide__ = True
        if self.tracker.passed(self.enter, given) is Action.TWICE:
            raise NotAttachable(refusal(self.call, self.kind, "duplicate"))

    def _given(self, args: Args, kwargs: dict[str, Any]) -> Args:
        """The arguments as people think of them: without `self`, and without defaults left alone."""
        if self._receiver:
            args = args[1:]
        if self._defaults:
            count = len(self._defaults)
            args = tuple([a for a, d in zip(args, self._defaults) if a is not d]) + args[count:]  # noqa: B905
        if not kwargs:
            return args
        defaults = self._by_name
        return (*args, *[v for name, v in kwargs.items() if v is not defaults.get(name, _NONE)])


async def _rest(delays: list[float]) -> None:
    """Await delays, where asyncio runs. Other loops aren't known here, and are late as a whole."""
    seconds = sum(delays)
    delays.clear()
    asyncio = sys.modules.get("asyncio")
    loop = asyncio and asyncio._get_running_loop()
    if not loop:
        originals.sleep(seconds)
        return
    # Not asyncio.sleep, which may be an attached call itself.
    over = loop.create_future()
    alarm = loop.call_later(seconds, over.set_result, None)
    try:
        await over
    finally:
        alarm.cancel()


_NONE = object()


def _defaults(target: Target) -> tuple[Args, dict[str, Any]]:
    """The default of each parameter after `self` that is given by position, and of those by name."""
    if target.how != CODE:
        return (), {}
    function: FunctionType = target.original
    given = function.__defaults__ or ()
    required = function.__code__.co_argcount - len(given)
    by_position = (*[_NONE] * required, *given)[target.receiver :] if given else ()
    return by_position, function.__kwdefaults__ or {}


class _Exhaustible:
    """An async generator that tells when it is exhausted, for a trampoline (or a caller) to drive."""

    def __init__(self, inner: Any, exhausted: Callable[[], object]) -> None:
        self._inner, self._exhausted = inner, exhausted

    def __aiter__(self) -> _Exhaustible:
        return self

    def __anext__(self) -> Any:
        return self.asend(None)

    def asend(self, value: Any) -> Any:
        return self._step(self._inner.asend(value))

    def athrow(self, *error: Any) -> Any:
        return self._step(self._inner.athrow(*error))

    async def _step(self, step: Awaitable[Any]) -> Any:
        __tracebackhide__ = True
        try:
            return await step
        except StopAsyncIteration:
            self._exhausted()
            raise

    def aclose(self) -> Any:
        return self._inner.aclose()


# -- what stands in for callables without Python code --------------------------------------------


class Replacement:
    """Stands in for a callable and has its attributes.

    It doesn't bind: a built-in function in a class isn't a method, and its replacement mustn't be one.
    """

    def __init__(self, original: Any, handler: Handler) -> None:
        self._original = (original,)  # in a tuple, where rebinding of names leaves it alone
        self._handler = handler
        self.__doc__ = original.__doc__
        self.__module__ = getattr(original, "__module__", None) or ""
        if inspect.iscoroutinefunction(original) and hasattr(inspect, "markcoroutinefunction"):
            inspect.markcoroutinefunction(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return self._handler(self._original[0], args, kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_original"][0], name)

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            return inspect.signature(self._original[0])
        except ValueError as error:  # of many built-in functions it isn't known
            raise AttributeError(str(error)) from None

    def __repr__(self) -> str:
        return repr(self._original[0])

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._original[0].__reduce_ex__(protocol)

    def passes(self, call: str, tracker: Tracker) -> bool:
        """Whether it, or what it replaced, passes the points of this call."""
        return _passes(self._handler, call, tracker) or _carries(self._original[0], call, tracker)


class BindingReplacement(Replacement):
    """Stands in for a callable, or another descriptor, that becomes a method in a class."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self._original[0].__get__(instance, owner)
        return self if bound is self._original[0] else Replacement(bound, self._handler)


class PlainReplacement(functools.partial):  # type: ignore[type-arg]  # generic only for type checkers
    """Has a Python function stand in for a callable that doesn't become a method in a class."""

    def __new__(cls, original: Any, function: FunctionType) -> PlainReplacement:
        self = super().__new__(cls, function)
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, name, getattr(original, name, None))
        return self

    def __get__(self, instance: Any, owner: type | None = None) -> PlainReplacement:
        return self

    def __reduce__(self) -> Any:
        return self.__dict__["__qualname__"]


def replacement_of(original: Any, handler: Handler) -> Replacement:
    """What can stand in for this callable or descriptor, wherever it is."""
    binding = hasattr(type(original), "__get__")
    return (BindingReplacement if binding else Replacement)(original, handler)


def is_attached(target: Target, tracker: Tracker) -> bool:
    """Whether the call has its points already."""
    if target.how == CODE:
        return any(_passes(h, target.call, tracker) for h in Trampoline.of(target.original).handlers)
    return _carries(target.original, target.call, tracker)


def _carries(thing: Any, call: str, tracker: Tracker) -> bool:
    return isinstance(thing, Replacement) and thing.passes(call, tracker)


def _passes(handler: Handler, call: str, tracker: Tracker) -> bool:
    points = getattr(handler, "__self__", None)
    return isinstance(points, CallPoints) and points.call == call and points.tracker is tracker
