"""Putting the points in place, in a process that is not pytest's, before lives are forked.

This module runs inside lives: standard library only.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from . import surgery
from .calls import (
    CODE,
    NAMES,
    CallPoints,
    PlainReplacement,
    Target,
    is_attached,
    replacement_of,
    resolve,
    split,
)
from .errors import NotAttachable
from .tracker import Tracker
from .trampolines import Handler, Trampoline, kind_of_code

if TYPE_CHECKING:
    from .probes.base import Probe

OnImport = Callable[[ModuleType], object]


@dataclass
class Attached:
    """What became of an attached call, or of a callable that a probe replaced."""

    call: str
    how: str | None = None
    """`calls.CODE`, `calls.NAMES` or `calls.CLASS`; None as long as its module isn't imported"""
    kind: str | None = None
    """which kind of function it is, see `trampolines`"""
    names: int = 0
    """of `NAMES`: how many names were found and rebound"""


class Site:
    """What a probe may do to the process in which it's installed."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self._imports = _Imports()
        self._batch = _Batch()
        self._undo: list[Callable[[], object]] = []

    def attach(self, function: FunctionType, handler: Handler) -> None:
        """Put `handler(original, args, kwargs)` in front of a Python function, in place.

        The handler is of the function's own kind (`async def` for a coroutine function, a generator
        function for a generator function). `args` has all that may be given by position, also what
        was given by name or is a default; `kwargs` has the rest.
        """
        if not isinstance(function, FunctionType):
            raise NotAttachable(f"{function!r} is no Python function: use site.replace")
        trampoline = Trampoline.of(function)
        trampoline.add(handler)
        self.on_uninstall(lambda: trampoline.remove(handler))

    def replace(self, old: Any, new: Any) -> Attached:
        """Have all names that lead to a callable lead to `new`, once everything is installed.

        A Python function as `new` doesn't become a method where `old` didn't. The answer tells,
        afterwards, how many names there were.
        """
        _, queued, _ = self._batch.queue.get(id(old), (None, old, None))
        if queued is not old and queued is not new and getattr(queued, "func", None) is not new:
            first = getattr(queued, "func", queued)
            raise NotAttachable(f"{old!r} is to be replaced twice, by {first!r} and by {new!r}")
        if isinstance(new, FunctionType) and not hasattr(type(old), "__get__"):
            new = PlainReplacement(old, new)
        attached = Attached(getattr(old, "__qualname__", repr(old)), NAMES)
        self._enqueue(old, new, attached)
        return attached

    def when_imported(self, module: str, callback: OnImport) -> None:
        """Call `callback(module)` now if the module is imported, and each time that it will be.

        What it raises later doesn't reach the code that imports the module, which might swallow it.
        """

        def imported(module: ModuleType) -> None:
            with self.tracker.unseen(), self.batch():
                callback(module)

        def imported_later(module: ModuleType) -> None:
            try:
                imported(module)
            except NotAttachable as error:
                self.tracker.complain(str(error))
            except Exception as error:
                what = f"{type(error).__name__}: {error}"
                self.tracker.complain(f"no points could be put into {module.__name__}: {what}")

        self._imports.add(module, imported_later)
        if module in sys.modules:
            imported(sys.modules[module])

    def on_uninstall(self, undo: Callable[[], object]) -> None:
        """Have something undone by `Installed.uninstall`, last things first."""
        self._undo.append(undo)

    def undo(self) -> None:
        """Do all that, and look out for imports no more."""
        self._imports.remove()
        while self._undo:
            self._undo.pop()()

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        """Carry out all replacements at the end, because finding names takes as long for one as for all."""
        self._batch.depth += 1
        try:
            yield
        finally:
            self._batch.depth -= 1
        if self._batch.queue and not self._batch.depth:
            self._carry_out()

    def attach_call(self, call: str, attached: Attached) -> None:
        """Attach the points of a call whose module is imported, unless it has them."""
        target = resolve(call)
        if is_attached(target, self.tracker):
            return
        attached.how, attached.kind = target.how, target.kind
        points = CallPoints(target, self.tracker)
        if target.how == CODE:
            self.attach(target.original, points.handler)
        elif target.how == NAMES:
            if id(target.original) in self._batch.queue:
                # A probe is about to replace it. It's the replacement that we have to find and call then.
                self._carry_out()
                target = resolve(call)
            self._enqueue(target.original, replacement_of(target.original, points.handler), attached)
        else:
            self._set_in_class(target, points)

    def _set_in_class(self, target: Target, points: CallPoints) -> None:
        own = target.owner.__dict__
        undo = (setattr, target.name, own[target.name]) if target.name in own else (delattr, target.name)
        try:
            setattr(target.owner, target.name, replacement_of(target.original, points.handler))
        except (AttributeError, TypeError) as error:
            raise NotAttachable(f"{target.call} can't be replaced in its class: {error}") from error
        self.on_uninstall(lambda: undo[0](target.owner, *undo[1:]))

    def _enqueue(self, old: Any, new: Any, attached: Attached) -> None:
        self._batch.queue[id(old)] = (old, new, attached)
        if not self._batch.depth:
            self._carry_out()

    def _carry_out(self) -> None:
        queued = tuple(self._batch.queue.values())
        self._batch.queue = {}
        pairs = tuple([(old, new) for old, new, _ in queued])
        counts = surgery.rebind_all(pairs)
        for (_, _, attached), count in zip(queued, counts):  # noqa: B905  # `strict` came with Python 3.10
            attached.names += count
            if attached.kind:  # a call, not what a probe replaced
                self.tracker.rebound(attached.call, attached.names)
        self.on_uninstall(lambda: surgery.undo_rebinding(pairs))


class _Batch(threading.local):
    """The replacements that wait; of each thread, since modules are imported by any."""

    def __init__(self) -> None:
        self.depth = 0
        self.queue: dict[int, tuple[Any, Any, Attached]] = {}


class Installed:
    """All probes and attached calls of one process."""

    def __init__(self, tracker: Tracker) -> None:
        self.attached: dict[str, Attached] = {}
        """what became of each attached call"""
        self._site = Site(tracker)

    def attach_more(self, call: str) -> Attached:
        """Attach one more call, or tell what became of it if it's attached already.

        A module that isn't imported yet isn't imported by this; its call is attached when it is, and
        a wrong name in it is a complaint of the tracker's then. Raises NotAttachable.
        """
        if call in self.attached:
            return self.attached[call]
        check([call])
        attached = Attached(call)
        self._site.when_imported(split(call)[0], lambda module: self._site.attach_call(call, attached))
        self.attached[call] = attached
        return attached

    def uninstall(self) -> None:
        """Take all away again, as far as that is possible."""
        self._site.undo()


def install(tracker: Tracker, probes: Iterable[Probe], calls: Iterable[str]) -> Installed:
    """Install the probes, then attach the calls, which so come before a probe's points at the same place."""
    installed = Installed(tracker)
    site = installed._site
    try:
        with site.batch():
            for probe in probes:
                for name in probe.calls:
                    tracker.covers(name)
                probe.install(site)
            for call in calls:
                installed.attach_more(call)
    except BaseException:
        installed.uninstall()
        raise
    return installed


# -- errors up front -----------------------------------------------------------------------------


def check(calls: Iterable[str]) -> None:
    """Raise NotAttachable for the first call that can't be attached, as far as can be told without an
    import: of modules that aren't imported it is known only whether they exist."""
    for call in calls:
        module = split(call)[0]
        if module in sys.modules:
            resolve(call)
        else:
            _find(call, module)


def kind_of(call: str) -> str | None:
    """Which kind of function a call is (see `trampolines`), without importing its module.

    None if that can't be told without an import. Raises NotAttachable, as `check` does.
    """
    if split(call)[0] in sys.modules:
        return resolve(call).kind
    return _kind_of_definition(_definition(call))


def is_defined(call: str) -> bool:
    """Whether the source of a call's module plainly defines it. One that doesn't may still make it when imported."""
    return isinstance(_definition(call), (ast.FunctionDef, ast.AsyncFunctionDef))


def _definition(call: str) -> ast.AST | None:
    module, path = split(call)
    loader: Any = _find(call, module).loader
    try:
        node: Any = ast.parse(loader.get_source(module))
    except Exception:  # no source, or none that can be read
        return None
    for name in path:
        node = next((n for n in getattr(node, "body", ()) if getattr(n, "name", None) == name), None)
    found: ast.AST | None = node
    return found


def _kind_of_definition(node: ast.AST | None) -> str | None:
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if any(getattr(decorator, "id", None) not in _PLAIN for decorator in node.decorator_list):
        return None  # the call is what the decorator makes of it
    code = compile(ast.Module([node], []), "<definition>", "exec", dont_inherit=True)
    codes = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return kind_of_code(codes[-1]) if len(codes) == 1 else None


_PLAIN = ("staticmethod", "classmethod", "property")  # decorators that leave the function what it is


def _find(call: str, module: str) -> ModuleSpec:
    """The spec of a module. Unlike `importlib.util.find_spec` it doesn't import parent packages."""
    parent = module.rpartition(".")[0]
    path: Sequence[str] | None = None
    if parent in sys.modules:
        path = getattr(sys.modules[parent], "__path__", None)
    elif parent:
        path = _find(call, parent).submodule_search_locations
    if parent and path is None:
        raise NotAttachable(f"{call}: the module {parent} is no package, so there is no {module}")
    for finder in sys.meta_path:
        spec = finder.find_spec(module, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    raise no_module(call, module, path)


def no_module(call: str, module: str, path: Sequence[str] | None) -> NotAttachable:
    """The error for a call whose module, or the package of that, isn't there; `path` is where its siblings are."""
    parent, _, name = module.rpartition(".")
    siblings = [info.name for info in pkgutil.iter_modules(path)]
    near = [f"{parent}.{n}".lstrip(".") for n in difflib.get_close_matches(name, siblings)]
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return NotAttachable(f"{call}: there is no module {module}{meant}")


# -- modules imported later ----------------------------------------------------------------------


class _Imports:
    """The first finder of all, which finds nothing itself: it adds callbacks to what others find."""

    def __init__(self) -> None:
        self._callbacks: dict[str, list[OnImport]] = {}
        self._busy = threading.local()  # other finders may ask all finders in turn

    def add(self, module: str, callback: OnImport) -> None:
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        self._callbacks.setdefault(module, []).append(callback)

    def remove(self) -> None:
        self._callbacks.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._callbacks or name in self._busy.__dict__:
            return None
        self._busy.__dict__[name] = True
        try:
            spec = self._ask_others(name, path, target)
        finally:
            del self._busy.__dict__[name]
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._call_back)  # type: ignore[assignment]
        return spec

    def _ask_others(self, name: str, *where: Any) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, *where)
                if spec is not None:
                    return spec
        return None

    def _call_back(self, name: str, module: ModuleType) -> None:
        for callback in list(self._callbacks.get(name, ())):
            callback(sys.modules.get(name, module))


class _Loader:
    """A loader that calls back when the module is complete. The module itself never gets to see it."""

    def __init__(self, loader: Any, call_back: Callable[[str, ModuleType], None]) -> None:
        self._loader = loader
        self._call_back = call_back

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_loader"], name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None:
            spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._call_back(module.__name__ if spec is None else spec.name, module)
