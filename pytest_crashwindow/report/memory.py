"""Whether a failed assertion looked at the test's own memory for what a life did in its copy of it."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import BuiltinMethodType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

_MOST = 2000  # objects that are looked at


def looked_at(error: BaseException, test_file: str, targets: Iterable[Callable[..., Any]]) -> bool:
    """Whether the line of the test that raised names something that a life changes, if at all, where nobody sees it:
    an empty container, a Mock, a variable or an object of the test's own, which a target of a life can reach."""
    if not isinstance(error, AssertionError):
        return False
    found = [(frame, line) for frame, line in _frames(error) if frame.f_code.co_filename == test_file]
    if not found:
        return False
    frame, line = found[-1]
    ids, variables = _reached(targets, test_file)
    for name in _names_in(test_file, line):
        if name in frame.f_code.co_cellvars and name in variables and not _is_filled(frame.f_locals.get(name)):
            return True
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        if id(value) in ids and _remembers(value, frame.f_globals.get("__name__")):
            return True
    return False


def _frames(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    traceback = error.__traceback__
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _names_in(file: str, line: int) -> set[str]:
    """The names in the statement at a line."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return set()
    around = [n for n in ast.walk(tree) if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    if not around:
        return set()
    statement = max(around, key=lambda node: (node.lineno, node.col_offset))
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _reached(targets: Iterable[Callable[..., Any]], test_file: str) -> tuple[set[int], set[str]]:
    """Objects that the targets can reach, by id, and the variables of enclosing functions that they share."""
    waiting, ids, variables = deque[Any](targets), set[int](), set[str]()
    while waiting and len(ids) < _MOST:
        one = waiting.popleft()
        if id(one) in ids or isinstance(one, ModuleType | type | str | bytes | int | float | None):
            continue
        ids.add(id(one))
        if isinstance(one, functools.partial):
            waiting += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, FunctionType):
            variables.update(one.__code__.co_freevars)
            waiting += [cell.cell_contents for cell in one.__closure__ or () if _is_filled_cell(cell)]
            if one.__code__.co_filename == test_file:
                waiting += [one.__globals__[name] for name in one.__code__.co_names if name in one.__globals__]
        elif isinstance(one, MethodType | BuiltinMethodType):
            waiting.append(one.__self__)
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set | frozenset | deque):
            waiting += one
        else:
            waiting += getattr(one, "__dict__", {}).values()
    return ids, variables


def _is_filled_cell(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _is_filled(value: object) -> bool:
    """Whether something was put into it, which may be the test's own input."""
    return bool(value) if isinstance(value, list | dict | set | deque | bytearray | int | str) else False


def _remembers(value: object, test_module: object) -> bool:
    if isinstance(value, list | dict | set | deque | bytearray):
        return not value
    mock: Any = sys.modules.get("unittest.mock")
    return type(value).__module__ == test_module or (mock is not None and isinstance(value, mock.NonCallableMock))
