"""Attached calls: every way to reach one counts, and nothing else does."""

from __future__ import annotations

import asyncio
import inspect
import math
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attaching import Shop, both

from pytest_crashwindow.calls import NAMES, resolve
from pytest_crashwindow.errors import NotAttachable


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.syspath_prepend(tmp_path)
    shop = Shop(tmp_path)
    yield shop
    shop.close()


# -- every way to reach a function -----------------------------------------------------------------

SEND = """
    import functools, operator

    def send(order):
        return f"sent {order}"
"""
REACHED_BY = {
    "its module": ("", "send(1)"),
    "an imported name": ("from shop import send as s", "s(1)"),
    "a dict": ("d = {'s': send}", "d['s'](1)"),
    "a list": ("l = [send]", "l[0](1)"),
    "a tuple": ("t = (send,)", "t[0](1)"),
    "a closure": ("def outer(f):\n        return lambda: f(1)\n    inner = outer(send)", "inner()"),
    "a default": ("def f(x, s=send):\n        return s(x)", "f(1)"),
    "a keyword's default": ("def f(x, *, s=send):\n        return s(x)", "f(1)"),
    "a partial": ("p = functools.partial(send, 1)", "p()"),
    "a slot": ("class A:\n        __slots__ = ['s']\n    a = A()\n    a.s = send", "a.s(1)"),
    "an instance": ("class A: pass\n    a = A()\n    a.s = send", "a.s(1)"),
    "a static method": ("class A:\n        s = staticmethod(send)", "A.s(1)"),
    "a method": ("class A:\n        s = send", "A.s(1)"),
    "a suspended generator": (
        "def gen():\n        s = send\n        yield\n        yield s(1)\n    g = gen()\n    next(g)",
        "next(g)",
    ),
    "a map in progress": ("m = map(send, [0, 1])\n    next(m)", "next(m)"),
    "itself, decorated": ("@functools.wraps(send)\n    def outer(x):\n        return send(x)", "outer(1)"),
}


@pytest.mark.parametrize("way", REACHED_BY)
def test_a_function_is_reached_by_whatever_held_it_before(way: str, shop: Shop) -> None:
    setup, call = REACHED_BY[way]
    module = shop(f"{SEND}\n    {setup}")
    shop.attach("shop:send")
    assert eval(call, module.__dict__) == "sent 1"
    assert shop.points() == both("send")


METHODS = """
    import dataclasses, functools

    class Base:
        def send(self, x): return f"{type(self).__name__} {x}"
        @classmethod
        def made(cls, x): return f"{cls.__name__} {x}"
        @staticmethod
        def ping(x): return x
        def __new__(cls, *args): return super().__new__(cls)

    class Mailer(Base):
        def __init__(self, *args): self.args = args
        def put(self, x): return f"put {x}"
        @classmethod
        def create(cls, *args): return cls(*args)
        @staticmethod
        def check(x): return x > 0
        @property
        def state(self): return "up"
        @functools.cached_property
        def address(self): return "a@b"
        def __call__(self, x): return f"called {x}"
        shout = lambda self, x: x.upper()
        put_now = functools.partialmethod(put, "now")
        def through_super(self, x): return super().send(x)
        def own_class(self): return __class__.__name__
        @functools.singledispatchmethod
        def show(self, x): return f"any {x}"
        @show.register
        def _(self, x: int): return f"int {x}"
        @functools.lru_cache
        def cached(self, x): return x * 2

    class Special(Mailer): pass
    class Other(Base): pass

    @dataclasses.dataclass(slots=True)
    class Point:
        x: int
        def double(self): return self.x * 2

    m = Mailer()
    stored = m.put
    class Holder: pass
    holder = Holder()
    holder.put = m.put
"""
CALLED_AS = {
    # call: (expression, answer)
    "Mailer.put": ("m.put(1)", "put 1"),
    "Mailer.__init__": ("Mailer(1).args", (1,)),
    "Mailer.create": ("Mailer.create(1).args", (1,)),
    "Mailer.check": ("Mailer.check(1)", True),
    "Mailer.state": ("m.state", "up"),
    "Mailer.address": ("m.address", "a@b"),
    "Mailer.__call__": ("m(1)", "called 1"),
    "Mailer.shout": ("m.shout('a')", "A"),
    "Mailer.put_now": ("m.put_now()", "put now"),
    "Mailer.through_super": ("m.through_super(1)", "Mailer 1"),
    "Mailer.own_class": ("m.own_class()", "Mailer"),
    "Mailer.show": ("m.show(1)", "int 1"),
    "Mailer.cached": ("m.cached(2)", 4),
    "Base.send": ("m.through_super(1)", "Mailer 1"),
    "Base.made": ("Base.made(1)", "Base 1"),
    "Base.ping": ("Mailer.ping(1)", 1),
    "Base.__new__": ("Other() and 1", 1),
    "Point.__init__": ("Point(1).x", 1),
    "Point.double": ("Point(1).double()", 2),
    "m.put": ("m.put(1)", "put 1"),
    "m": ("m(1)", "called 1"),
    "stored": ("stored(1)", "put 1"),
    "Mailer.send": ("m.send(1)", "Mailer 1"),
    "Mailer.made": ("Special.made(1)", "Special 1"),
    "Mailer.__new__": ("isinstance(Mailer(), Mailer)", True),
}


@pytest.mark.parametrize("call", CALLED_AS)
def test_a_member_of_a_class_is_reached(call: str, shop: Shop) -> None:
    expression, answer = CALLED_AS[call]
    module = shop(METHODS)
    shop.attach(f"shop:{call}")
    assert eval(expression, module.__dict__) == answer
    assert shop.points() == both(call)


@pytest.mark.parametrize("expression", ["stored(1)", "holder.put(1)", "Mailer.put(m, 1)", "Special().put(1)"])
def test_a_method_is_reached_by_bound_methods_and_subclasses(expression: str, shop: Shop) -> None:
    module = shop(METHODS)
    shop.attach("shop:Mailer.put")
    assert eval(expression, module.__dict__) == "put 1"
    assert shop.points() == both("Mailer.put")


@pytest.mark.parametrize(
    ("call", "expression"),
    [
        ("Mailer.send", "Base().send(1)"),
        ("Mailer.send", "Other().send(1)"),
        ("Mailer.made", "Base.made(1)"),
        ("Mailer.made", "Other.made(1)"),
        ("Mailer.__new__", "Other()"),
        ("m.put", "Mailer().put(1)"),
        ("stored", "Mailer().put(1)"),
        ("m", "Mailer()(1)"),
        ("Mailer.put_now", "m.put(1)"),
    ],
)
def test_what_only_shares_the_code_is_not_the_call(call: str, expression: str, shop: Shop) -> None:
    module = shop(METHODS)
    shop.attach(f"shop:{call}")
    eval(expression, module.__dict__)
    assert shop.points() == []


def test_functions_of_one_definition_are_told_apart(shop: Shop) -> None:
    module = shop("""
        import functools
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args): return f(*args)
            return wrapper
        @logged
        def send(x): return x
        @logged
        def other(x): return x
    """)
    shop.attach("shop:send")
    assert (module.other(1), shop.points()) == (1, [])
    assert (module.send(1), shop.points()) == (1, both("send"))


def test_a_call_through_super_is_a_call_of_the_base(shop: Shop) -> None:
    module = shop("""
        class Base:
            def send(self, x): return x
        class Sub(Base):
            def send(self, x): return super().send(x + 1)
    """)
    shop.attach("shop:Base.send", "shop:Sub.send")
    assert module.Sub().send(1) == 2
    assert shop.points() == ["Sub.send:enter", "Base.send:enter", "Base.send:exit", "Sub.send:exit"]


def test_each_call_of_a_recursion_is_one(shop: Shop) -> None:
    module = shop("def down(n): return n if n == 0 else down(n - 1)")
    shop.attach("shop:down")
    assert module.down(3) == 0
    assert shop.points() == ["down:enter"] * 4 + ["down:exit"] * 4


def test_threads(shop: Shop) -> None:
    module = shop("def send(x): return x")
    shop.attach("shop:send")
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.extend(module.send(x) for x in range(1000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == sorted(list(range(1000)) * 4)
    points = shop.points()
    assert points.count("send:enter") == points.count("send:exit") == 4000


def test_nothing_is_passed_before_a_life_begins(shop: Shop) -> None:
    module = shop("""
        import functools
        def send(x): return x
        async def asend(x): return x
        def rows(n): yield from range(n)
        async def pages(n):
            for i in range(n): yield i
        cached = functools.lru_cache(lambda x: x)
    """)
    shop.attach("shop:send", "shop:asend", "shop:rows", "shop:pages", "shop:cached")
    shop.tracker.active = False

    async def listed() -> list[int]:
        return [page async for page in module.pages(2)]

    assert (module.send(1), asyncio.run(module.asend(1)), module.cached(1)) == (1, 1, 1)
    assert (list(module.rows(2)), asyncio.run(listed())) == ([0, 1], [0, 1])
    assert shop.points() == []


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "call", "given"),
    [
        ("def f(a, b): return (a, b)", "f(1, 2)", (1, 2)),
        ("def f(a, b): return (a, b)", "f(b=2, a=1)", (1, 2)),
        ("def f(a, b=2, c=3): return (a, c)", "f(1, c=4)", (1, 4)),
        ("def f(a, b=2, *rest): return (a, b, rest)", "f(1, 5, 6)", (1, 5, 6)),
        ("def f(a, /, *, k, z=9): return (a, k, z)", "f(1, k=2)", (1, 2)),
        ("def f(*args, **kwargs): return (args, kwargs)", "f(1, x=2)", (1, 2)),
        ("def f(*, k): return k", "f(k=1)", (1,)),
        ("def f(): return None", "f()", ()),
        ("class A:\n  def m(self, a, b=0): return a\nf = A().m", "f(a=1)", (1,)),
        ("class A:\n  def m(*args): return args[1:]\nf = A().m", "f(1)", (1,)),
        ("class A:\n  @classmethod\n  def m(cls, a): return a\nf = A.m", "f(1)", (1,)),
    ],
)
def test_arguments_are_those_that_the_caller_gave(
    definition: str, call: str, given: tuple[object, ...], shop: Shop
) -> None:
    module = shop("")
    exec(definition, module.__dict__)
    answer = eval(call, module.__dict__)
    shop.attach("shop:f")
    assert eval(call, module.__dict__) == answer
    assert shop.arguments() == [given, given]


@pytest.mark.parametrize("call", ["f()", "f(1, 2, 3)", "f(1, z=2)", "f(1, a=1)"])
def test_wrong_arguments_are_an_error_and_no_call(call: str, shop: Shop) -> None:
    module = shop("def f(a, b=0): return a")
    with pytest.raises(TypeError) as before:
        eval(call, module.__dict__)
    shop.attach("shop:f")
    with pytest.raises(TypeError) as after:
        eval(call, module.__dict__)
    assert (str(after.value), shop.points()) == (str(before.value), [])


# -- callables without Python code -----------------------------------------------------------------


def test_an_lru_cache_is_called_each_time_and_keeps_its_attributes(shop: Shop) -> None:
    module = shop("""
        import functools
        @functools.lru_cache(maxsize=5)
        def price(x):
            "Looks it up."
            return x
        alias = [price]
    """)
    inner = module.price.__wrapped__
    installed = shop.attach("shop:price")
    assert (module.price(1), module.alias[0](1)) == (1, 1)
    assert shop.points() == both("price", "price")
    assert module.price.cache_info().hits == 1
    assert module.price.__wrapped__ is inner
    assert (module.price.__name__, module.price.__doc__) == ("price", "Looks it up.")
    assert str(inspect.signature(module.price)) == "(x)"
    assert pickle.loads(pickle.dumps(module.price)) is module.price
    assert installed.attached["shop:price"].names == 2


def test_a_singledispatch_function_is_its_dispatcher(shop: Shop) -> None:
    module = shop("""
        import functools
        @functools.singledispatch
        def show(x): return "any"
        @show.register
        def of_int(x: int): return "int"
    """)
    shop.attach("shop:show")
    assert (module.show(1), module.show("")) == ("int", "any")
    assert shop.points() == both("show", "show")
    module.show.register(str, lambda x: "str")
    assert module.show("") == "str"


def test_a_builtin_is_replaced_by_name(shop: Shop) -> None:
    module = shop("""
        import math
        from math import isqrt
        table = {"root": isqrt}
        class Unbound:
            root = isqrt
    """)
    before = math.isqrt
    installed = shop.attach("math:isqrt")
    assert math.isqrt is not before
    calls = [math.isqrt, module.isqrt, module.table["root"], module.Unbound().root, module.Unbound.root]
    assert [call(16) for call in calls] == [4] * 5
    assert shop.points() == both("isqrt") * 5
    assert installed.attached["math:isqrt"].how == NAMES
    assert installed.attached["math:isqrt"].names >= 4
    assert pickle.loads(pickle.dumps(math.isqrt)) is math.isqrt
    assert str(inspect.signature(math.isqrt)) == str(inspect.signature(before))
    assert repr(math.isqrt) == repr(before)
    installed.uninstall()
    assert before is math.isqrt is module.isqrt is module.table["root"] is module.Unbound.root
    assert shop.points() == []


def test_a_builtin_that_is_taken_into_a_class_later_does_not_become_a_method(shop: Shop) -> None:
    shop.attach("math:isqrt")
    module = shop("import math\nclass Unbound:\n  root = math.isqrt")
    assert module.Unbound().root(16) == 4
    assert shop.points() == both("isqrt")


def test_a_partial_of_a_coroutine_function(shop: Shop) -> None:
    module = shop("import functools\nasync def send(x, y): return x + y\nsend_one = functools.partial(send, 1)")
    shop.attach("shop:send_one")
    assert asyncio.run(module.send_one(2)) == 3
    assert asyncio.run(module.send(1, 2)) == 3
    assert shop.points() == both("send_one")


def test_a_partial_of_generator_functions(shop: Shop) -> None:
    module = shop("""
        import functools
        def rows(n, m): yield n + m
        async def pages(n, m): yield n + m
        some_rows = functools.partial(rows, 1)
        some_pages = functools.partial(pages, 1)
    """)
    shop.attach("shop:some_rows", "shop:some_pages")

    async def listed() -> list[Any]:
        return [x async for x in module.some_pages(2)]

    assert (list(module.some_rows(2)), shop.points()) == ([3], both("some_rows"))
    assert (asyncio.run(listed()), shop.points()) == ([3], both("some_pages"))


def test_a_method_inherited_from_a_c_type_is_replaced_in_the_class_alone(shop: Shop) -> None:
    module = shop("class Store(dict): pass\nclass Sub(Store):\n  def get(self, x): return super().get(x)")
    installed = shop.attach("shop:Store.get", "shop:Store.fromkeys", "shop:Store.__setitem__")
    assert (module.Store(a=1).get("a"), module.Sub(a=1).get("a"), {"a": 1}.get("a")) == (1, 1, 1)
    assert shop.points() == both("Store.get", "Store.get")
    assert type(module.Store.fromkeys("a")) is module.Store
    shop.points()
    store = module.Store()
    store["a"] = 1
    assert shop.arguments() == [("a", 1), ("a", 1)]
    installed.uninstall()
    assert not {"get", "fromkeys", "__setitem__"} & set(module.Store.__dict__)


def test_a_static_builtin_in_a_class(shop: Shop) -> None:
    module = shop("import math\nclass A:\n  root = staticmethod(math.isqrt)\n  other = math.isqrt")
    shop.attach("shop:A.root", "shop:A.other")
    assert (module.A.root(16), module.A().root(16), module.A().other(16), math.isqrt(16)) == (4, 4, 4, 4)
    assert shop.points() == both("A.root", "A.root", "A.other")


def test_a_singledispatchmethod_can_still_be_extended(shop: Shop) -> None:
    module = shop(METHODS)
    shop.attach("shop:Mailer.show")
    module.Mailer.show.register(str, lambda self, x: f"str {x}")
    assert module.m.show("a") == "str a"
    assert shop.points() == both("Mailer.show")


def test_a_property_stays_a_property(shop: Shop) -> None:
    module = shop("""
        class A:
            @property
            def x(self): return self.y
            @x.setter
            def x(self, value): self.y = value
    """)
    shop.attach("shop:A.x", "shop:A.x.fset")
    a = module.A()
    a.x = 3
    assert (a.x, shop.points()) == (3, both("A.x.fset", "A.x"))


# -- what can't be attached ------------------------------------------------------------------------

REFUSED = {
    "shop.send": "is no call: write pkg.module:function or pkg.module:Class.method; did you mean shop:send?",
    "send": "is no call: write pkg.module:function",
    "shop:send()": "is no call",
    "shop:": "is no call",
    "shop:sned": "the module shop has no 'sned'; did you mean send?",
    "shop:Mailer.snd": "the class shop:Mailer has no 'snd'; did you mean send?",
    "shop:Mialer.send": "the module shop has no 'Mialer'; did you mean Mailer?",
    "shop:Mailer": "is a class: attach shop:Mailer.__init__ for its construction",
    "shop:Mailer.Inner": "is a class: attach shop:Mailer.Inner.__init__",
    "shop:Plain.__init__": "the class shop:Plain has no __init__ of its own",
    "shop:Mailer.ping": "is a static method of the class shop:Base, .* attach shop:Base.ping",
    "shop:LIMIT": "is an object of type int, which is not called",
    "shop:Mailer.limit": "is an object of type int, which is not called",
    "shop:Slotted.x": "which is not called",
    "shop:queue.append": "is made anew each time it is asked for; attach the Python function that calls it",
    "sqlite3:Connection.commit": "is written in C and fixed; use the points of the probe 'sqlite3'",
    "_io:FileIO.write": "is written in C and fixed; use the points of the probe 'files', or attach",
    "builtins:dict.get": "is written in C and fixed; attach the Python function that calls it",
    "shop_nonexistent:x": "there is no module shop_nonexistent",
}


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str, shop: Shop) -> None:
    shop("""
        import sqlite3
        LIMIT = 3
        queue = []
        def send(): pass
        class Plain: pass
        class Slotted: __slots__ = ["x"]
        class Base:
            @staticmethod
            def ping(): pass
        class Mailer(Base):
            limit = 3
            class Inner: pass
            def send(self): pass
    """)
    with pytest.raises(NotAttachable, match=REFUSED[call]):
        shop.attach(call)


def test_a_class_that_refuses_attributes(shop: Shop) -> None:
    shop("""
        class Meta(type):
            def __setattr__(cls, name, value): raise TypeError("frozen")
        class A(dict, metaclass=Meta): pass
    """)
    with pytest.raises(NotAttachable, match=r"shop:A.get can't be replaced in its class: frozen"):
        shop.attach("shop:A.get")


def test_a_lazy_module_attribute_is_found(shop: Shop) -> None:
    module = shop("""
        def _send(x): return x
        def __getattr__(name):
            if name == "send": return _send
            raise AttributeError(name)
    """)
    assert resolve("shop:send").original is module._send
    shop.attach("shop:send")
    assert (module.send(1), shop.points()) == (1, both("send"))


def test_a_patched_call_does_not_happen_and_comes_back(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    module = shop("def send(x): return x")
    shop.attach("shop:send")
    with monkeypatch.context() as patch:
        patch.setattr(module, "send", lambda x: "mocked")
        assert (module.send(1), shop.points()) == ("mocked", [])
    assert (module.send(1), shop.points()) == (1, both("send"))
