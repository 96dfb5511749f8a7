"""Functions with handlers in front: their kinds, what faults do, and that Python sees no difference."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import AsyncGeneratorType, ModuleType
from typing import Any

import pytest
from attaching import Remembering, Shop, both

from pytest_crashwindow.calls import refusal
from pytest_crashwindow.errors import NotAttachable
from pytest_crashwindow.faults.base import Action
from pytest_crashwindow.installing import install
from pytest_crashwindow.trampolines import ASYNC_GENERATOR, COROUTINE, FUNCTION, GENERATOR, Trampoline


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.syspath_prepend(tmp_path)
    shop = Shop(tmp_path)
    yield shop
    shop.close()


# -- kinds of functions ----------------------------------------------------------------------------


def test_a_coroutine_function_exits_after_the_await(shop: Shop) -> None:
    module = shop("""
        import asyncio
        async def send(x, event):
            await event.wait()
            return x
    """)
    shop.attach("shop:send")

    async def main() -> list[list[str]]:
        event = asyncio.Event()
        task = asyncio.ensure_future(module.send(1, event))
        await asyncio.sleep(0)
        first = shop.points()
        event.set()
        assert await task == 1
        return [first, shop.points()]

    assert asyncio.run(main()) == [["send:enter"], ["send:exit"]]


def test_a_cancelled_coroutine_does_not_exit(shop: Shop) -> None:
    module = shop("import asyncio\nasync def send(): await asyncio.Event().wait()")
    shop.attach("shop:send")

    async def main() -> None:
        task = asyncio.ensure_future(module.send())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert shop.points() == ["send:enter"]


def test_an_ordinary_function_that_returns_a_coroutine_exits_after_the_await(shop: Shop) -> None:
    module = shop("""
        import functools
        async def inner(x): return x
        @functools.wraps(inner)
        def send(x): return inner(x)
    """)
    shop.attach("shop:send")

    async def main() -> None:
        coroutine = module.send(1)
        assert (coroutine.__name__, shop.points()) == ("inner", ["send:enter"])
        assert await coroutine == 1

    asyncio.run(main())
    assert shop.points() == ["send:exit"]


ROWS = """
    closed = []
    def rows(n):
        got = []
        try:
            for i in range(n):
                try:
                    got.append((yield i))
                except KeyError as error:
                    got.append(error)
        finally:
            closed.append(n)
        return got
"""


def test_a_generator_exits_when_it_is_exhausted(shop: Shop) -> None:
    module = shop(ROWS)
    shop.attach("shop:rows")
    rows = module.rows(2)
    assert shop.points() == []
    assert (next(rows), rows.send("a"), shop.points()) == (0, 1, ["rows:enter"])
    with pytest.raises(StopIteration) as end:
        rows.throw(KeyError("b"))
    assert [str(got) for got in end.value.value] == ["a", "'b'"]
    assert shop.points() == ["rows:exit"]


def test_a_generator_that_is_closed_early_does_not_exit(shop: Shop) -> None:
    module = shop(ROWS)
    shop.attach("shop:rows")
    rows = module.rows(2)
    next(rows)
    rows.close()
    assert (module.closed, shop.points()) == ([2], ["rows:enter"])


PAGES = ROWS.replace("def rows", "async def pages").replace("return got", "closed.append(got)")


def test_an_async_generator_exits_when_it_is_exhausted(shop: Shop) -> None:
    module = shop(PAGES)
    shop.attach("shop:pages")

    async def main() -> list[int]:
        return [page async for page in module.pages(3)]

    assert (asyncio.run(main()), shop.points()) == ([0, 1, 2], both("pages"))


def test_an_async_generator_takes_values_and_exceptions(shop: Shop) -> None:
    module = shop(PAGES)
    shop.attach("shop:pages")

    async def main() -> None:
        pages: Any = module.pages(3)
        assert type(pages) is AsyncGeneratorType
        assert [await pages.asend(None), await pages.asend("a"), await pages.athrow(KeyError("b"))] == [
            0,
            1,
            2,
        ]
        with pytest.raises(StopAsyncIteration):
            await pages.__anext__()
        with pytest.raises(StopAsyncIteration):
            await pages.__anext__()

    asyncio.run(main())
    assert [str(got) for got in module.closed[1]] == ["a", "'b'", "None"]
    assert shop.points() == both("pages")


def test_an_async_generator_that_is_left_early_is_closed_and_does_not_exit(shop: Shop) -> None:
    module = shop(PAGES)
    shop.attach("shop:pages")

    async def main() -> None:
        pages = module.pages(3)
        async for _ in pages:
            break
        await pages.aclose()
        async for _ in module.pages(4):
            break  # the loop closes this one

    asyncio.run(main())
    assert (module.closed, shop.points()) == ([3, 4], ["pages:enter", "pages:enter"])


@pytest.mark.parametrize("active", [True, False])
def test_an_async_generator_left_open_is_closed_once_by_the_loop(active: bool, shop: Shop) -> None:
    module = shop("""
        import asyncio
        closed = []
        async def pages():
            try:
                yield 1
                yield 2
            finally:
                await asyncio.sleep(0)
                closed.append(1)
    """)
    shop.attach("shop:pages")
    shop.tracker.active = active
    left_open, complaints = [], []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
        left_open.append(module.pages())
        assert await left_open[0].__anext__() == 1

    asyncio.run(main())
    assert (module.closed, complaints) == ([1], [])


def test_an_exception_out_of_an_async_generator(shop: Shop) -> None:
    module = shop("async def pages():\n  yield 1\n  raise ValueError('x')")
    shop.attach("shop:pages")

    async def main() -> None:
        async for _ in module.pages():
            pass

    with pytest.raises(ValueError, match="x"):
        asyncio.run(main())
    assert shop.points() == ["pages:enter"]


def test_a_context_manager_function_is_called_when_it_is_entered(shop: Shop) -> None:
    module = shop("""
        import contextlib
        @contextlib.contextmanager
        def session():
            yield 1
    """)
    shop.attach("shop:session")
    with module.session() as value:
        assert (value, shop.points()) == (1, both("session"))


@pytest.mark.parametrize(
    ("definition", "kind"),
    [
        ("def f(): pass", FUNCTION),
        ("async def f(): pass", COROUTINE),
        ("def f(): yield", GENERATOR),
        ("async def f(): yield", ASYNC_GENERATOR),
        ("import types\n@types.coroutine\ndef f(): yield", GENERATOR),
        ("import functools\n@functools.lru_cache\ndef f(): pass", FUNCTION),
        ("import functools\nasync def g(): pass\nf = functools.partial(g)", COROUTINE),
    ],
)
def test_the_kind_of_a_call_stays_what_it_was(definition: str, kind: str, shop: Shop) -> None:
    module = shop(definition)
    tests = (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.isfunction,
    )
    before = [test(module.f) for test in tests]
    assert shop.attach("shop:f").attached["shop:f"].kind == kind
    if sys.version_info >= (3, 12) or inspect.isfunction(module.f):
        assert [test(module.f) for test in tests] == before


def test_a_generator_based_coroutine_can_be_awaited(shop: Shop) -> None:
    module = shop("""
        import asyncio, types
        @types.coroutine
        def send(x):
            yield from asyncio.sleep(0).__await__()
            return x
    """)
    shop.attach("shop:send")

    async def main() -> Any:
        return await module.send(1)

    assert (asyncio.run(main()), shop.points()) == (1, both("send"))


# -- what faults do --------------------------------------------------------------------------------

COUNTED = """
    import functools, types
    done = []
    def send(x):
        done.append(x)
        return len(done)
    async def asend(x): return send(x)
    def wrapper(x): return asend(x)
    def rows(n):
        yield send(n)
    async def pages(n):
        yield send(n)
    cached = functools.lru_cache(send)
"""


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _call(module: ModuleType, name: str) -> Any:
    answer = getattr(module, name)(7)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize("name", ["send", "asend", "wrapper", "cached"])
class TestFaults:
    def test_an_error_at_the_entry_keeps_the_call_from_happening(self, name: str, shop: Shop) -> None:
        module = shop(COUNTED)
        shop.attach(f"shop:{name}")
        shop.tracker.at[f"shop:{name}:enter"] = OSError("lost")
        with pytest.raises(OSError, match="lost"):
            _call(module, name)
        assert (module.done, shop.points()) == ([], [f"{name}:enter"])

    def test_an_answer_lost_at_the_exit_leaves_the_call_done(self, name: str, shop: Shop) -> None:
        module = shop(COUNTED)
        shop.attach(f"shop:{name}")
        shop.tracker.at[f"shop:{name}:exit"] = TimeoutError("lost")
        with pytest.raises(TimeoutError, match="lost"):
            _call(module, name)
        assert (module.done, shop.points()) == ([7], both(name))

    def test_a_duplicate_gives_the_second_answer_and_exits_once(self, name: str, shop: Shop) -> None:
        module = shop(COUNTED)
        shop.attach(f"shop:{name}")
        shop.tracker.at[f"shop:{name}:enter"] = Action.TWICE
        _call(module, name)
        expected = [7] if name == "cached" else [7, 7]
        assert (module.done, shop.points()) == (expected, both(name))


def test_a_duplicate_gives_the_second_answer(shop: Shop) -> None:
    module = shop(COUNTED)
    shop.attach("shop:send", "shop:asend")
    shop.tracker.at = {"shop:send:enter": Action.TWICE}
    assert module.send(7) == 2
    assert asyncio.run(module.asend(7)) == 4


def test_an_exception_of_the_call_itself_is_no_exit(shop: Shop) -> None:
    module = shop("def send(x): raise ValueError(x)")
    shop.attach("shop:send")
    with pytest.raises(ValueError, match="1"):
        module.send(1)
    assert shop.points() == ["send:enter"]


@pytest.mark.parametrize("name", ["rows", "pages"])
def test_a_duplicate_of_a_generator_is_refused(name: str, shop: Shop) -> None:
    module = shop(COUNTED)
    shop.attach(f"shop:{name}")
    shop.tracker.at[f"shop:{name}:enter"] = Action.TWICE

    async def listed() -> list[Any]:
        return [x async for x in module.pages(7)]

    with pytest.raises(NotAttachable, match=f"duplicate is refused at shop:{name}"):
        list(module.rows(7)) if name == "rows" else asyncio.run(listed())
    assert module.done == []


def test_which_faults_are_refused() -> None:
    for kind in (GENERATOR, ASYNC_GENERATOR):
        for fault in ("duplicate", "lost_ack"):
            assert f"{fault} is refused at shop:rows" in (refusal("shop:rows", kind, fault) or "")
        assert refusal("shop:rows", kind, "crash") is None
    assert refusal("shop:send", COROUTINE, "duplicate") is None
    assert refusal("shop:send", FUNCTION, "lost_ack") is None


# -- Python notices no difference ------------------------------------------------------------------

ORDINARY = """
    def send(order, urgent=False, *, retries: int = 3):
        "Sends."
        return order, urgent, retries
"""


def test_signature_source_and_the_like(shop: Shop) -> None:
    module = shop(ORDINARY)

    def told() -> list[Any]:
        send = module.send
        names = [send.__name__, send.__qualname__, send.__module__, send.__doc__, send.__annotations__]
        code = send.__code__
        counts = [code.co_argcount, code.co_kwonlyargcount, code.co_name, code.co_varnames[:3]]
        return [
            inspect.signature(send),
            inspect.getsource(send),
            inspect.getfullargspec(send),
            *names,
            *counts,
        ]

    before = told()
    shop.attach("shop:send")
    assert told() == before


def test_the_function_object_is_the_same(shop: Shop) -> None:
    send = (module := shop(ORDINARY)).send
    shop.attach("shop:send")
    assert module.send is send is copy.deepcopy(send) is pickle.loads(pickle.dumps(send))


def test_defaults_changed_later_are_used(shop: Shop) -> None:
    module = shop(ORDINARY)
    shop.attach("shop:send")
    module.send.__defaults__ = (True,)
    module.send.__kwdefaults__ = {"retries": 9}
    assert module.send(1) == (1, True, 9)


def test_closures_share_their_cells(shop: Shop) -> None:
    module = shop("""
        def outer():
            count = 0
            def send():
                nonlocal count
                count += 1
                return count
            def seen(): return count
            return send, seen
        send, seen = outer()
    """)
    shop.attach("shop:send")
    assert (module.send(), module.send(), module.seen()) == (1, 2, 2)


def test_private_names_stay_private(shop: Shop) -> None:
    module = shop("class A:\n  def send(self, __x=1): return self.__y + __x\n  __y = 1")
    shop.attach("shop:A.send")
    assert module.A().send() == 2


def test_a_decorated_function_is_unwrapped_to_the_same_as_before(shop: Shop) -> None:
    module = shop("""
        import functools
        def inner(x): return x
        @functools.wraps(inner)
        def send(x): return inner(x)
    """)
    shop.attach("shop:send")
    assert module.send.__wrapped__ is module.inner
    assert (module.send.__wrapped__(1), shop.points()) == (1, [])


def test_two_more_frames_which_are_hidden(shop: Shop) -> None:
    module = shop("""
        import functools
        def send(): raise ValueError
        async def asend(): raise ValueError
        def rows(): raise ValueError; yield
        cached = functools.lru_cache(lambda: 1 / 0)
    """)
    shop.attach("shop:send", "shop:asend", "shop:rows", "shop:cached")
    calls: list[Callable[[], Any]] = [
        module.send,
        lambda: module.asend().send(None),
        lambda: next(module.rows()),
        module.cached,
    ]
    for call in calls:
        with pytest.raises((ValueError, ZeroDivisionError)) as caught:
            call()
        extra = [
            (frame.f_code.co_filename, frame.f_locals.get("__tracebackhide__"))
            for frame, _ in traceback.walk_tb(caught.tb)
            if "crashwindow" in frame.f_code.co_filename and frame.f_code.co_filename != __file__
        ]
        assert len(extra) == 2
        assert all(hidden for _, hidden in extra)


# -- attached more than once -----------------------------------------------------------------------


def test_a_call_attached_twice_has_one_pair_of_points(shop: Shop) -> None:
    module = shop(COUNTED + "\n    class A(dict): pass\n")
    calls = ["shop:send", "shop:cached", "shop:A.get"]
    installed = shop.attach(*calls, *calls)
    for call in calls:
        installed.attach_more(call)
    shop.attach(*calls)
    module.send(1), module.cached(1), module.A().get(1)
    assert shop.points() == [
        "send:enter",
        "send:exit",
        "cached:enter",
        *both("send"),
        "cached:exit",
        *both("A.get"),
    ]


def test_two_names_of_one_function_are_two_calls(shop: Shop) -> None:
    module = shop("def send(x): return x\npost = send")
    shop.attach("shop:send", "shop:post")
    assert module.send(1) == 1
    assert shop.points() == ["post:enter", "send:enter", "send:exit", "post:exit"]


@pytest.mark.parametrize("definition", ["def f(x): {}", "async def f(x): {}", "def g(x): {}\nf = functools.partial(g)"])
@pytest.mark.parametrize("first", [0, 1])
def test_taken_away_in_any_order(definition: str, first: int, shop: Shop) -> None:
    module = shop("import functools\n" + definition.format("return x"))
    before = module.f
    code = getattr(before, "__code__", None)
    one, two = shop.attach("shop:f"), Remembering()
    other = install(two, [], ["shop:f"])
    both_of_them = [(one, two), (other, shop.tracker)]
    installed, left = both_of_them[first]
    if not (first == 0 and code is None):  # names are given back in the order of a stack
        installed.uninstall()
        _call_plainly(module.f)
        assert left.points() == both("f")
    other.uninstall()
    one.uninstall()
    _call_plainly(module.f)
    assert (shop.points(), two.points()) == ([], [])
    assert module.f is before
    assert getattr(module.f, "__code__", None) is code
    assert "__wrapped__" not in module.f.__dict__


def _call_plainly(function: Any) -> None:
    answer = function(1)
    if inspect.isawaitable(answer):
        asyncio.run(_awaited(answer))


@pytest.mark.parametrize("kind", ["def f(x): return x", "async def f(x): return x"])
def test_handlers_of_probes_stand_behind_attached_calls(kind: str, shop: Shop) -> None:
    module = shop(kind)

    def handler(original: Any, args: Any, kwargs: Any) -> Any:
        shop.tracker.passed("probe:seen", args)
        return original(*args, **kwargs)

    shop.attach("shop:f")
    trampoline = Trampoline.of(module.f)
    trampoline.handlers.insert(0, handler)
    trampoline.add(trampoline.handlers.pop())
    _call_plainly(module.f)
    trampoline.remove(handler)
    assert shop.points() == ["f:enter", "seen", "f:exit"]
