"""Changing what Python doesn't offer to change: immutable types, and names that hold a function.

Everything here alters the whole process, so it happens only in worlds and in spawned commands, and
for all targets at once. This module runs inside lives: standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, FunctionType, GetSetDescriptorType, MemberDescriptorType, MethodType
from typing import Any

from .errors import NotAttachable

_PACKAGE = __name__.partition(".")[0]

# -- immutable types -----------------------------------------------------------------------------

_FLAGS_OFFSET = object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t) + 18 * ctypes.sizeof(ctypes.c_void_p)
"""where `tp_flags` lies in a type object: after the variable-size header and 18 pointers"""
_IMMUTABLE, _HEAP = 1 << 8, 1 << 9  # Py_TPFLAGS_IMMUTABLETYPE (3.10+), Py_TPFLAGS_HEAPTYPE


@contextlib.contextmanager
def thawed(frozen: type) -> Iterator[None]:
    """Lets attributes of an immutable type be set in the ordinary way, slots and subclasses included.

    Nothing but setting belongs inside: before Python 3.10 the type is passed off as one made at run time.
    Raises NotAttachable on an interpreter whose type objects are laid out in another way.
    """
    flags = ctypes.c_ulong.from_address(id(frozen) + _FLAGS_OFFSET)
    if flags.value != frozen.__flags__:
        raise NotAttachable(f"this build of Python lays types out in an unknown way, so {frozen!r} can't carry points")
    before = flags.value
    # Before 3.10 a type was immutable by not being made at run time.
    flags.value = before & ~_IMMUTABLE if sys.version_info >= (3, 10) else before | _HEAP
    try:
        yield
    finally:
        # Setting attributes may have changed other flags (abstractness, a valid version).
        flag = _IMMUTABLE if sys.version_info >= (3, 10) else _HEAP
        flags.value = flags.value & ~flag | before & flag


def set_in_type(frozen: type, attributes: Mapping[str, object]) -> Callable[[], object]:
    """Replace attributes that an immutable type itself has; calling the answer puts the old ones back."""
    before = {name: vars(frozen)[name] for name in attributes}
    with thawed(frozen):
        for name in attributes:
            setattr(frozen, name, attributes[name])
    return lambda: set_in_type(frozen, before)


# -- names ---------------------------------------------------------------------------------------


def rebind_all(pairs: Sequence[tuple[Any, Any]], keep: Sequence[object] = ()) -> list[int]:
    """Make every name of each `old` a name of its `new`; returns how many there were for each pair.

    Found are entries of dicts (modules and classes included), lists, deques and sets, closure cells,
    defaults of parameters, attributes in slots and instances, `partial`, `staticmethod` and
    `classmethod` objects. Not found: elements of tuples, bound methods, running frames, C structures.
    Left alone: what `new` itself uses to reach `old`, the modules of this package, and the
    containers (dicts, lists, cells, instances) in `keep`.

    Each call looks at all objects of the process, twice at most, so give it all pairs at once. To undo
    it, call `undo_rebinding` with the same pairs. Objects frozen by `gc.freeze` are unfrozen.
    """
    # No comprehension or inner function may touch an `old` here or below, and no list or dict hold
    # one: its own cell or entry would be found and rebound. Tuples are safe.
    rebinder = _Rebinder(pairs, keep)
    olds = tuple(map(_first, pairs))
    rebinder.own.update(map(id, (olds, *pairs)))
    tuples, classes = [], []
    gc.unfreeze()  # the collector doesn't show frozen objects; whoever wants them frozen does it afterwards
    for holder in gc.get_referrers(*olds):
        if id(holder) in rebinder.own:
            continue
        if type(holder) is tuple:
            tuples.append(holder)
        elif type(holder) is dict and _is_of_class(holder):
            classes.append(holder)
        else:
            rebinder.rebind_in(holder)
    if tuples or classes:
        mine = {id(olds), id(tuples), id(classes)}
        for holder in gc.get_referrers(*tuples, *classes):
            if id(holder) not in rebinder.own and id(holder) not in mine:
                rebinder.rebind_below(holder)
    return rebinder.counts


def undo_rebinding(pairs: Sequence[tuple[Any, Any]], keep: Sequence[object] = ()) -> list[int]:
    """The inverse of `rebind_all`; names given to `new` since then become names of `old` as well."""
    return rebind_all([(new, old) for old, new in pairs], keep)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _is_of_class(namespace: dict[Any, Any]) -> bool:
    # Such a dict may not be written to: the interpreter would go on with cached attributes.
    return "__module__" in namespace and "__name__" not in namespace


class _Rebinder:
    """Where the names of some functions are, by the kind of what holds them."""

    def __init__(self, pairs: Sequence[tuple[Any, Any]], keep: Sequence[object]) -> None:
        self.counts = [0] * len(pairs)
        self._index: dict[int, int] = {}
        self._news = tuple(new for _, new in pairs)
        for index, pair in enumerate(pairs):
            self._index[id(pair[0])] = index
        self.own = {id(pairs), *map(id, keep)}
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").partition(".")[0] == _PACKAGE:
                self.own.add(id(module.__dict__))
        for new in self._news:
            _add_belongings(new, self.own)

    def _new(self, value: object) -> Any:
        """What takes the place of a value, counted as one name; None if it stays."""
        index = self._index.get(id(value))
        if index is None:
            return None
        self.counts[index] += 1
        return self._news[index]

    def rebind_in(self, holder: Any) -> None:
        """`holder` itself has the value in it."""
        if isinstance(holder, dict):
            self._rebind_dict(holder)
        elif isinstance(holder, (list, deque)):
            for place, value in enumerate(list(holder)):
                new = self._new(value)
                if new is not None:
                    holder[place] = new
        elif isinstance(holder, set):
            for value in tuple(holder):
                new = self._new(value)
                if new is not None:
                    holder.discard(value)
                    holder.add(new)
        elif isinstance(holder, CellType):
            new = self._new(holder.cell_contents)
            if new is not None:
                holder.cell_contents = new
        elif isinstance(holder, functools.partial):
            self._rebind_partial(holder)
        elif isinstance(holder, (staticmethod, classmethod)):
            new = self._new(holder.__func__)
            if new is not None:
                holder.__init__(new)  # type: ignore[misc]  # it has no setter
        if not isinstance(holder, (type, FunctionType)):
            self._rebind_attributes(holder)

    def rebind_below(self, holder: Any) -> None:
        """`holder` has a tuple or a class's namespace in it that has the value in it."""
        if isinstance(holder, FunctionType):
            defaults = self._rebuilt(holder.__defaults__)
            if defaults is not None:
                holder.__defaults__ = defaults
        elif isinstance(holder, functools.partial):
            self._rebind_partial(holder)
        elif isinstance(holder, type):
            self._rebind_class(holder)

    def _rebind_dict(self, holder: dict[Any, Any]) -> None:
        for key, value in list(dict.items(holder)):
            new = self._new(value)
            if new is not None:
                dict.__setitem__(holder, key, new)
        if type(holder) is dict and any(id(key) in self._index for key in holder):
            entries = list(holder.items())  # in place and in the same order
            holder.clear()
            for key, value in entries:
                new = self._new(key)
                holder[key if new is None else new] = value

    def _rebind_class(self, holder: type) -> None:
        for name, value in list(vars(holder).items()):
            if id(value) not in self._index:
                continue
            new = self._news[self._index[id(value)]]
            if hasattr(type(new), "__get__") and not hasattr(type(value), "__get__"):
                new = staticmethod(new)  # a builtin doesn't become a method, so neither may its stand-in
            with contextlib.suppress(TypeError):  # immutable: a method of a C type
                type.__setattr__(holder, name, new)
                self.counts[self._index[id(value)]] += 1

    def _rebind_partial(self, holder: functools.partial[Any]) -> None:
        function, arguments = self._new(holder.func), self._rebuilt(holder.args)
        if function is not None or arguments is not None:
            holder.__setstate__(  # type: ignore[attr-defined]  # what unpickling uses
                (
                    holder.func if function is None else function,
                    holder.args if arguments is None else arguments,
                    holder.keywords,
                    holder.__dict__,
                )
            )

    def _rebuilt(self, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if values is None or all(id(value) not in self._index for value in values):
            return None
        rebuilt = []
        for value in values:
            new = self._new(value)
            rebuilt.append(value if new is None else new)
        return tuple(rebuilt)

    def _rebind_attributes(self, holder: Any) -> None:
        for base in type(holder).__mro__:
            for name, attribute in list(vars(base).items()):
                if isinstance(attribute, MemberDescriptorType):
                    self._rebind_slot(holder, attribute)
                elif name == "__dict__" and isinstance(attribute, GetSetDescriptorType):
                    namespace = attribute.__get__(holder)
                    if isinstance(namespace, dict) and id(namespace) not in self.own:
                        self._rebind_dict(namespace)

    def _rebind_slot(self, holder: Any, slot: MemberDescriptorType) -> None:
        with contextlib.suppress(AttributeError, TypeError):  # an empty slot; a read-only member of a C type
            value = slot.__get__(holder)
            if id(value) in self._index:
                slot.__set__(holder, self._news[self._index[id(value)]])
                self.counts[self._index[id(value)]] += 1


def _add_belongings(wrapper: Any, own: set[int]) -> None:
    """Add to `own` the containers by which a wrapper reaches what it wraps."""
    if isinstance(wrapper, CellType):
        with contextlib.suppress(ValueError):  # still empty
            _add_once(wrapper, wrapper.cell_contents, own)
    elif isinstance(wrapper, MethodType):
        _add_once(wrapper, wrapper.__func__, own)
    elif isinstance(wrapper, functools.partial):
        own.add(id(wrapper.args))
        _add_once(wrapper, wrapper.func, own)
    elif isinstance(wrapper, FunctionType):
        own.update({id(wrapper.__dict__), id(wrapper.__defaults__), id(wrapper.__kwdefaults__)} - {id(None)})
        for cell in wrapper.__closure__ or ():
            _add_once(wrapper, cell, own)


def _add_once(holder: object, held: object, own: set[int]) -> None:
    own.add(id(holder))
    if id(held) not in own:
        _add_belongings(held, own)
        own.add(id(held))
