from __future__ import annotations

import _io
import functools
import gc
import operator
import types
from collections import OrderedDict, deque
from typing import Any

import pytest

import pytest_crashwindow.surgery
from pytest_crashwindow.surgery import rebind_all, set_in_type, thawed, undo_rebinding


def a_builtin() -> Any:
    """A C callable that nothing else in the process refers to."""
    return operator.methodcaller("upper")


def wrapped(old: Any) -> Any:
    @functools.wraps(old, assigned=())
    def new(*args: Any) -> str:
        return f"new {old(*args)}"

    return new


@pytest.fixture
def pair() -> tuple[Any, Any]:
    old = a_builtin()
    return old, wrapped(old)


def rebind(pair: tuple[Any, Any]) -> int:
    (count,) = rebind_all([pair])
    return count


class TestNamesThatAreFound:
    def test_of_modules(self, pair: tuple[Any, Any]) -> None:
        module = types.ModuleType("some_module")
        module.call = pair[0]  # type: ignore[attr-defined]
        assert rebind(pair) == 1
        assert module.call is pair[1]

    @pytest.mark.parametrize("kind", [dict, OrderedDict])
    def test_of_dicts(self, pair: tuple[Any, Any], kind: Any) -> None:
        table = kind(first=1, call=pair[0], last=2)
        assert rebind(pair) == 1
        assert table == kind(first=1, call=pair[1], last=2)

    def test_keys_of_dicts_in_their_order(self, pair: tuple[Any, Any]) -> None:
        table = {"first": 1, pair[0]: "named", "last": 2}
        assert rebind(pair) == 1
        assert list(table) == ["first", pair[1], "last"]
        assert table[pair[1]] == "named"

    @pytest.mark.parametrize("kind", [list, deque])
    def test_of_sequences(self, pair: tuple[Any, Any], kind: Any) -> None:
        row = kind([1, pair[0], pair[0]])
        assert rebind(pair) == 2
        assert row == kind([1, pair[1], pair[1]])

    def test_of_sets(self, pair: tuple[Any, Any]) -> None:
        calls = {pair[0], len}
        assert rebind(pair) == 1
        assert calls == {pair[1], len}

    def test_of_closures(self, pair: tuple[Any, Any]) -> None:
        def closing_over(call: Any) -> Any:
            return lambda text: call(text)

        user = closing_over(pair[0])
        assert rebind(pair) == 1
        assert user("a") == "new A"

    def test_of_defaults(self, pair: tuple[Any, Any]) -> None:
        def user(text: str, call: Any = pair[0], *, other: Any = pair[0]) -> tuple[str, str]:
            return call(text), other(text)

        assert rebind(pair) == 2
        assert user("a") == ("new A", "new A")

    def test_of_partials(self, pair: tuple[Any, Any]) -> None:
        called = functools.partial(pair[0], "a")
        handed_on = functools.partial(map, pair[0])
        in_keyword = functools.partial(sorted, key=pair[0])
        assert rebind(pair) == 3
        assert called() == "new A"
        assert list(handed_on("ab")) == ["new A", "new B"]
        assert in_keyword.keywords == {"key": pair[1]}

    def test_of_instances_and_slots(self, pair: tuple[Any, Any]) -> None:
        class Plain:
            def __init__(self, call: Any) -> None:
                self.call = call

        class Slotted:
            __slots__ = ("call", "empty")

            def __init__(self, call: Any) -> None:
                self.call = call

        plain, slotted = Plain(pair[0]), Slotted(pair[0])
        assert rebind(pair) == 2
        assert plain.call is slotted.call is pair[1]

    def test_of_classes_where_a_builtin_does_not_become_a_method(self) -> None:
        old = a_builtin()
        pair = old, wrapped(old)

        class Holder:
            call = old

        del old
        holder = Holder()
        assert holder.call("a") == "A"  # warms the attribute cache
        assert rebind_all([pair], keep=[]) == [1]
        assert holder.call("a") == Holder.call("a") == "new A"

    @pytest.mark.parametrize("kind", [staticmethod, classmethod])
    def test_of_static_and_class_methods(self, kind: Any) -> None:
        def old(*args: Any) -> str:
            return str(args[-1])

        pair = old, wrapped(old)
        Holder = type("Holder", (), {"call": kind(pair[0])})
        del old
        rebind(pair)
        assert Holder().call("a") == "new a"


class TestNamesThatAreLeftAlone:
    def test_what_the_wrapper_uses(self, pair: tuple[Any, Any]) -> None:
        old, new = pair
        assert rebind(pair) == 0
        assert new("a") == "new A"
        assert new.__wrapped__ is old

    def test_what_functions_inside_the_wrapper_use(self) -> None:
        old = a_builtin()

        def through(handler: Any) -> Any:
            return lambda *args: handler(*args)

        pair = old, through(functools.partial(wrapped(old), "a"))
        del old
        assert rebind(pair) == 0
        assert pair[1]() == "new A"

    def test_tuples(self, pair: tuple[Any, Any]) -> None:
        row = (pair[0],)
        assert rebind(pair) == 0
        assert row[0] is pair[0]

    def test_what_is_to_be_kept(self, pair: tuple[Any, Any]) -> None:
        notes = [pair[0]]
        assert rebind_all([pair], keep=[notes]) == [0]
        assert notes == [pair[0]]

    def test_modules_of_the_package(self, pair: tuple[Any, Any]) -> None:
        names = vars(pytest_crashwindow.surgery)
        names["kept"] = pair[0]
        try:
            assert rebind(pair) == 0
            assert names["kept"] is pair[0]
        finally:
            del names["kept"]


def test_counts_are_for_each_pair() -> None:
    first, second = a_builtin(), a_builtin()
    pairs = [(first, wrapped(first)), (second, wrapped(second))]
    table = {"a": first, "b": second, "c": second}
    del first, second
    assert rebind_all(pairs) == [1, 2]
    assert list(table.values()) == [pairs[0][1], pairs[1][1], pairs[1][1]]


def test_frozen_objects_are_found(pair: tuple[Any, Any]) -> None:
    table = {"call": pair[0]}
    gc.freeze()
    try:
        assert rebind(pair) == 1
    finally:
        gc.unfreeze()
    assert table["call"] is pair[1]


def test_undone_with_the_names_that_were_added_since(pair: tuple[Any, Any]) -> None:
    table = {"before": pair[0]}
    rebind(pair)
    table["since"] = table["before"]
    assert undo_rebinding([pair]) == [2]
    assert table == {"before": pair[0], "since": pair[0]}
    assert pair[1]("a") == "new A"


class TestThawing:
    def test_an_attribute_can_be_set_inside_only(self) -> None:
        with thawed(_io.BytesIO):
            _io.BytesIO.added = 1  # type: ignore[attr-defined]
        with pytest.raises(TypeError):
            _io.BytesIO.added = 2  # type: ignore[attr-defined]
        with thawed(_io.BytesIO):
            del _io.BytesIO.added  # type: ignore[attr-defined]
        assert not hasattr(_io.BytesIO, "added")

    def test_slots_and_subclasses_follow(self) -> None:
        class Sub(_io.BytesIO):
            pass

        original = _io.BytesIO.__next__
        with thawed(_io.BytesIO):
            _io.BytesIO.__next__ = lambda self: b"line"  # type: ignore[method-assign]
        try:
            assert next(Sub()) == next(_io.BytesIO()) == b"line"
        finally:
            with thawed(_io.BytesIO):
                _io.BytesIO.__next__ = original  # type: ignore[method-assign]
        assert next(_io.BytesIO(b"a\nb")) == b"a\n"

    def test_what_was_set_can_be_put_back(self) -> None:
        original = vars(_io.BytesIO)["__next__"]
        put_back = set_in_type(_io.BytesIO, {"__next__": lambda self: b"line"})
        assert next(_io.BytesIO()) == b"line"
        put_back()
        assert vars(_io.BytesIO)["__next__"] is original
        assert next(_io.BytesIO(b"a\nb")) == b"a\n"
