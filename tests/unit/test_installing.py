"""Installing probes and calls: what a probe may do, modules imported later, errors up front, undoing."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import math
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attaching import Remembering, Shop, both

from pytest_crashwindow import surgery
from pytest_crashwindow.calls import CLASS, CODE, NAMES
from pytest_crashwindow.errors import NotAttachable
from pytest_crashwindow.installing import Attached, Site, check, install, kind_of
from pytest_crashwindow.probes.base import Probe
from pytest_crashwindow.trampolines import ASYNC_GENERATOR, COROUTINE, FUNCTION, GENERATOR


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.syspath_prepend(tmp_path)
    shop = Shop(tmp_path)
    yield shop
    shop.close()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site(Remembering())
    yield site
    site.undo()


# -- what a probe may do -------------------------------------------------------------------------


class Roots(Probe):
    """A probe with a Python function, a builtin and a module that is imported later."""

    name = "roots"
    calls = ("math.isqrt", "shop.send")

    def install(self, site: Site) -> None:
        original = math.isqrt

        def isqrt(x: int) -> int:
            site.tracker.passed("math.isqrt:enter", (x,))
            return original(x)

        def send(original: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            site.tracker.passed("shop.send:enter", args)
            return original(*args, **kwargs)

        site.replace(math.isqrt, isqrt)
        site.when_imported("shop", lambda module: site.attach(module.send, send))


def test_a_probe_attaches_replaces_and_waits_for_imports(shop: Shop) -> None:
    before = math.isqrt
    installed = shop.attach(probes=[Roots()])
    module = shop("import math\ndef send(x, y=2): return math.isqrt(x + y)")
    assert module.send(14) == 4
    assert shop.tracker.seen == [("shop.send:enter", (14, 2)), ("math.isqrt:enter", (16,))]
    installed.uninstall()
    shop.tracker.seen.clear()
    assert (module.send(14), shop.points()) == (4, [])
    assert math.isqrt is before


def test_what_a_probe_covers_is_no_audit_event(shop: Shop) -> None:
    shop.attach(probes=[Roots()])
    assert {"math.isqrt", "shop.send"} <= shop.tracker._probed


def test_a_call_that_a_probe_replaces_has_the_points_of_both(shop: Shop) -> None:
    shop("def send(x): return x")
    shop.attach("math:isqrt", "shop:send", probes=[Roots()])
    assert math.isqrt(16) == 4
    assert [point for point, _ in shop.tracker.seen] == [
        "math:isqrt:enter",
        "math.isqrt:enter",
        "math:isqrt:exit",
    ]


def test_a_call_attached_after_a_probe_has_replaced_it(shop: Shop) -> None:
    installed = shop.attach(probes=[Roots()])
    assert installed.attach_more("math:isqrt").how == NAMES
    assert math.isqrt(16) == 4
    assert [point for point, _ in shop.tracker.seen] == [
        "math:isqrt:enter",
        "math.isqrt:enter",
        "math:isqrt:exit",
    ]
    installed.uninstall()
    assert inspect.isbuiltin(math.isqrt)


def test_all_replacements_are_found_in_one_look(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    rebind_all = surgery.rebind_all

    def counted(pairs: Any, keep: Any = ()) -> list[int]:
        looks.append(len(pairs))
        return rebind_all(pairs, keep)

    monkeypatch.setattr(surgery, "rebind_all", counted)
    shop.attach("math:gcd", "math:lcm", probes=[Roots()])
    assert looks == [3]


def test_a_replacement_tells_how_many_names_there_were(site: Site) -> None:
    holder = {"a": math.isqrt, "b": math.isqrt}
    replaced = site.replace(math.isqrt, lambda x: x)
    assert (holder["a"](16), holder["b"](16)) == (16, 16)
    assert replaced.names >= 3
    site.undo()
    assert holder["a"] is holder["b"] is math.isqrt


def test_a_function_that_replaces_a_builtin_does_not_become_a_method(site: Site) -> None:
    site.replace(math.isqrt, lambda x: x + 1)
    late = type("Late", (), {"root": math.isqrt})
    assert late().root(16) == 17
    assert math.isqrt.__name__ == "isqrt"
    assert pickle.loads(pickle.dumps(math.isqrt)) is math.isqrt


def test_two_probes_cannot_replace_the_same(site: Site) -> None:
    def one(x: int) -> int:
        return 1

    with site.batch():
        site.replace(math.isqrt, one)
        site.replace(math.isqrt, one)  # it may have two names
        with pytest.raises(NotAttachable, match="isqrt> is to be replaced twice"):
            site.replace(math.isqrt, lambda x: 2)
    assert math.isqrt(16) == 1


def test_only_python_functions_are_attached(site: Site) -> None:
    with pytest.raises(NotAttachable, match="no Python function: use site"):
        site.attach(math.isqrt, lambda original, args, kwargs: None)  # type: ignore[arg-type]


def test_things_are_undone_last_first(site: Site) -> None:
    done: list[int] = []
    site.on_uninstall(lambda: done.append(1))
    site.on_uninstall(lambda: done.append(2))
    site.undo()
    site.undo()
    assert done == [2, 1]


def test_a_probe_that_fails_leaves_nothing_behind(shop: Shop) -> None:
    class Failing(Roots):
        def install(self, site: Site) -> None:
            super().install(site)
            raise RuntimeError("no")

    before, finders = math.isqrt, list(sys.meta_path)
    with pytest.raises(RuntimeError, match="no"):
        shop.attach(probes=[Failing()])
    assert (math.isqrt, sys.meta_path) == (before, finders)


# -- calls ---------------------------------------------------------------------------------------


def test_what_became_of_each_call(shop: Shop) -> None:
    shop("import functools\nasync def send(): pass\ncached = functools.lru_cache(len)\nclass A(dict): pass")
    shop.write("shop_later", "def f(): yield")
    installed = shop.attach("shop:send", "shop:cached", "shop:A.get", "shop_later:f")
    assert installed.attached == {
        "shop:send": Attached("shop:send", CODE, COROUTINE),
        "shop:cached": Attached("shop:cached", NAMES, FUNCTION, names=1),
        "shop:A.get": Attached("shop:A.get", CLASS, FUNCTION),
        "shop_later:f": Attached("shop_later:f"),
    }
    importlib.import_module("shop_later")
    assert installed.attached["shop_later:f"] == Attached("shop_later:f", CODE, GENERATOR)


def test_one_more_call(shop: Shop) -> None:
    module = shop("def send(x): return x")
    installed = shop.attach()
    assert installed.attach_more("shop:send") is installed.attach_more("shop:send")
    assert (module.send(1), shop.points()) == (1, both("send"))
    with pytest.raises(NotAttachable, match="did you mean send"):
        installed.attach_more("shop:sent")
    assert list(installed.attached) == ["shop:send"]


def test_two_installations_do_not_hide_each_other(shop: Shop) -> None:
    module = shop("def send(x): return x")
    shop.attach("shop:send")
    other = Remembering()
    installed = install(other, [], ["shop:send"])
    assert module.send(1) == 1
    assert other.points() == shop.points() == both("send")
    installed.uninstall()
    assert (module.send(1), other.points(), shop.points()) == (1, [], both("send"))


# -- modules imported later ----------------------------------------------------------------------


def test_a_module_is_not_imported_early(shop: Shop) -> None:
    shop.write("shop", "raise SystemExit")
    shop.attach("shop:send")
    assert "shop" not in sys.modules


def test_a_call_is_attached_when_its_module_is_imported(shop: Shop) -> None:
    shop.write("shop.mail", "def send(x): return x")
    shop.attach("shop.mail:send")
    assert "shop" not in sys.modules
    module = importlib.import_module("shop.mail")
    assert (module.send(1), shop.points()) == (1, both("send"))


def test_the_module_looks_as_if_nothing_had_happened(shop: Shop) -> None:
    source = "loader = __loader__\nspec_loader = __spec__.loader\ndef send(x): return x"
    plain = shop(source)
    del sys.modules["shop"]
    shop.attach("shop:send")
    module = shop(source)
    assert module is not plain
    assert module.__spec__ is not None
    for loader in (module.loader, module.spec_loader, module.__loader__, module.__spec__.loader):
        assert type(loader) is type(plain.loader)
    assert inspect.getsource(module.send) == "def send(x): return x\n"


def test_a_module_imported_again_is_attached_again(shop: Shop) -> None:
    module = shop("def send(x): return x")
    shop.attach("shop:send")
    importlib.reload(module)
    assert (module.send(1), shop.points()) == (1, both("send"))
    del sys.modules["shop"]
    again = importlib.import_module("shop")
    assert again is not module
    assert (again.send(1), shop.points()) == (1, both("send"))


def test_a_wrong_name_is_a_complaint_when_the_module_is_imported(shop: Shop) -> None:
    shop.write("shop", "def send(): pass")
    shop.attach("shop:sned")
    assert importlib.import_module("shop").send() is None
    assert shop.tracker.complaints == ["shop:sned: the module shop has no 'sned'; did you mean send?"]


def test_what_a_probe_raises_then_does_not_reach_the_import_either(shop: Shop) -> None:
    class Odd(Probe):
        name, calls = "odd", ()

        def install(self, site: Site) -> None:
            site.when_imported("shop", lambda module: {}["queue"])

    shop.attach(probes=[Odd()])
    assert shop("def send(): pass").send() is None
    assert shop.tracker.complaints == ["no points could be put into shop: KeyError: 'queue'"]


def test_circular_imports_and_names_taken_meanwhile(shop: Shop) -> None:
    shop.write("shop_b", "from shop_a import send\ncalled = send(1)\nkept = (send,)")
    shop.write("shop_a", "def send(x): return x\nimport shop_b")
    shop.attach("shop_a:send")
    module = importlib.import_module("shop_b")
    assert (module.called, module.kept[0](2)) == (1, 2)
    assert shop.points()[-2:] == both("send")


def test_names_of_builtins_in_a_module_imported_later(shop: Shop) -> None:
    shop.write("shop", "import functools\nprice = functools.lru_cache(abs)\nkept = [price]")
    installed = shop.attach("shop:price")
    module = importlib.import_module("shop")
    assert (module.kept[0](-1), shop.points()) == (1, both("price"))
    assert installed.attached["shop:price"].names == 2


def test_a_module_that_replaces_itself(shop: Shop) -> None:
    shop.write(
        "shop",
        """
        import sys, types
        other = types.ModuleType("shop")
        exec("def send(x): return x", other.__dict__)
        sys.modules["shop"] = other
    """,
    )
    shop.attach("shop:send")
    module = importlib.import_module("shop")
    assert (module.send(1), shop.points()) == (1, both("send"))


def test_packages_namespaces_and_failing_imports(shop: Shop, tmp_path: Path) -> None:
    shop.write("shop_bad", "raise ValueError('broken')")
    (tmp_path / "shop_namespace").mkdir()
    (tmp_path / "shop_namespace" / "mail.py").write_text("def send(x): return x")
    shop.attach("shop_bad:send", "shop_namespace.mail:send")
    with pytest.raises(ValueError, match="broken"):
        importlib.import_module("shop_bad")
    module = importlib.import_module("shop_namespace.mail")
    assert (module.send(1), shop.points()) == (1, both("send"))


class AskingFinder:
    """A finder that asks all finders in turn, as some plugins do."""

    def __init__(self) -> None:
        self._asking = False

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "shop" or self._asking:
            return None
        self._asking = True
        try:
            return importlib.util.find_spec(name)
        finally:
            self._asking = False


@pytest.mark.parametrize("place", [0, 1])
def test_other_finders_that_ask_all_finders(place: int, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    shop.write("shop", "def send(x): return x")
    shop.attach("shop:send")
    sys.meta_path.insert(place, AskingFinder())
    module = importlib.import_module("shop")
    assert (module.send(1), shop.points()) == (1, both("send"))


def test_imports_in_several_threads(shop: Shop) -> None:
    names = [f"shop_{n}" for n in range(8)]
    for name in names:
        shop.write(name, "import functools\ndef send(x): return x\nprice = functools.lru_cache(abs)")
    shop.attach(*(f"{name}:{f}" for name in names for f in ("send", "price")))
    threads = [threading.Thread(target=importlib.import_module, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        assert (sys.modules[name].send(1), sys.modules[name].price(-1)) == (1, 1)
        assert shop.points() == both("send", "price")


def test_an_import_after_a_fork(shop: Shop) -> None:
    shop.write("shop", "def send(x): return x")
    shop.attach("shop:send")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            importlib.import_module("shop").send(1)
            os.write(writer, " ".join(shop.points()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as file:
        assert file.read().split() == both("send")
    os.waitpid(pid, 0)


def test_nothing_waits_after_uninstalling(shop: Shop) -> None:
    finders = list(sys.meta_path)
    shop.write("shop", "def send(x): return x")
    installed = shop.attach("shop:send")
    assert sys.meta_path != finders
    installed.uninstall()
    assert sys.meta_path == finders
    assert (importlib.import_module("shop").send(1), shop.points()) == (1, [])


# -- errors up front -----------------------------------------------------------------------------


def test_check_needs_no_import(shop: Shop) -> None:
    shop.write("shop.mail", "raise SystemExit")
    check(["shop.mail:Mailer.send", "os.path:join", "json.decoder:JSONDecoder.decode"])
    assert "shop" not in sys.modules


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("shpo:send", "shpo:send: there is no module shpo; did you mean shop"),
        ("shop.mial:send", r"there is no module shop\.mial; did you mean shop\.mail\?"),
        ("shop.mail.x:send", r"the module shop\.mail is no package, so there is no shop\.mail\.x"),
        ("sho.mail:send", "there is no module sho; did you mean shop"),
        ("os:replaec", "the module os has no 'replaec'; did you mean replace"),
        ("shop.mail.send", "write pkg.module:function"),
    ],
)
def test_check_tells_what_may_have_been_meant(call: str, message: str, shop: Shop) -> None:
    shop.write("shop.mail", "raise SystemExit")
    for refused in (check, lambda calls: kind_of(calls[0]), lambda calls: shop.attach(*calls)):
        with pytest.raises(NotAttachable, match=message):
            refused([call])
    assert "shop" not in sys.modules


KINDS = """
    import contextlib, functools
    def plain(): return (x for x in ())
    async def coroutine(): return [x async for x in pages()]
    def rows():
        yield 1
    async def pages():
        yield 1
    def outer():
        def inner(): yield
        return inner
    @contextlib.contextmanager
    def session(): yield
    class A:
        class B:
            async def send(self): pass
        @staticmethod
        def ping(): yield
        @property
        def state(self): return 1
    made = functools.partial(rows)
"""


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("plain", FUNCTION),
        ("coroutine", COROUTINE),
        ("rows", GENERATOR),
        ("pages", ASYNC_GENERATOR),
        ("outer", FUNCTION),
        ("A.B.send", COROUTINE),
        ("A.ping", GENERATOR),
        ("A.state", FUNCTION),
        ("session", None),
        ("made", None),
        ("missing", None),
        ("A.missing.send", None),
    ],
)
def test_the_kind_of_a_call_without_its_import(call: str, kind: str | None, shop: Shop) -> None:
    shop.write("shop", KINDS)
    assert kind_of(f"shop:{call}") == kind
    assert "shop" not in sys.modules
    if kind is not None:
        importlib.import_module("shop")
        assert kind_of(f"shop:{call}") == kind


def test_the_kind_of_a_call_without_source(shop: Shop) -> None:
    shop.write("shop", "def send(: nonsense")
    assert kind_of("shop:send") is None


# -- with the real tracker, in processes of their own --------------------------------------------

LIFE = """
    import os, sys, pathlib
    from pytest_crashwindow.faults.{fault} import {Fault}
    from pytest_crashwindow.installing import install
    from pytest_crashwindow.points import Armed
    from pytest_crashwindow.record import read_trace
    from pytest_crashwindow.tracker import Lifeline, Orders, Tracker

    done = []
    def send(order):
        done.append(order)
        return len(done)

    world = pathlib.Path(sys.argv[1])
    (world / "fired").mkdir()
    tracker = Tracker()
    install(tracker, [], ["__main__:send"])
    send("before the life")
    done.clear()
    tracker.begin(
        Orders(world, [Armed(0, "__main__:send", {Fault}())], calls=frozenset({"__main__:send"})),
        Lifeline("a", os.getpid(), -1, -1, world / "stacks"),
    )
    try:
        print("answer", send("o-1"))
    except Exception as error:
        print(type(error).__name__)
    print(done)
    print([(str(hit), hit.arguments) for hit in read_trace(world / "trace")])
"""


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("error", ["OSError", "[]", "[('__main__:send:enter+1', \"'o-1'\")]"]),
        ("lost_ack", ["TimeoutError", "['o-1']", "__main__:send:exit+1"]),
        ("duplicate", ["answer 2", "['o-1', 'o-1']", "__main__:send:exit+1"]),
        ("crash", []),
    ],
)
def test_faults_fire_at_attached_calls(fault: str, told: list[str], tmp_path: Path) -> None:
    name = "".join(part.title() for part in fault.split("_"))
    script = tmp_path / "life.py"
    script.write_text(textwrap.dedent(LIFE).replace("{fault}", fault).replace("{Fault}", name))
    environment = {**os.environ, "PYTHONPATH": str(Path(surgery.__file__).parents[1])}
    life = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, env=environment)
    lines = life.stdout.splitlines()
    assert len(lines) == len(told), life.stderr
    for line, part in zip(lines, told, strict=True):
        assert part in line
    assert life.returncode == (-9 if fault == "crash" else 0)


# -- compiled code -------------------------------------------------------------------------------

CYTHON = """
    def send(x): return x
    async def asend(x): return x
    cpdef direct(x): return x
    def calls_direct(x): return direct(x)
    class Mailer:
        def send(self, x): return x
    cdef class Fixed:
        def send(self, x): return x
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    directory = tmp_path_factory.mktemp("compiled")
    (directory / "shop_fast.pyx").write_text(textwrap.dedent(CYTHON))
    (directory / "setup.py").write_text(
        "from setuptools import setup\nfrom Cython.Build import cythonize\n"
        "setup(ext_modules=cythonize('shop_fast.pyx'))"
    )
    built = subprocess.run([sys.executable, "setup.py", "build_ext", "-i"], cwd=directory, capture_output=True)
    if built.returncode:
        pytest.skip("no C compiler")
    return directory


def test_compiled_functions(compiled: Path, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(compiled)
    installed = shop.attach("shop_fast:send", "shop_fast:asend", "shop_fast:Mailer.send")
    module: ModuleType = importlib.import_module("shop_fast")
    try:
        assert module.send(1) == module.Mailer().send(1) == 1
        assert shop.points() == both("send", "Mailer.send")
        assert asyncio.run(_awaited(module.asend(1))) == 1
        assert shop.points() == both("asend")
        assert installed.attached["shop_fast:send"].how == NAMES
        with pytest.raises(NotAttachable, match="written in C and fixed; attach the Python function"):
            installed.attach_more("shop_fast:Fixed.send")
    finally:
        installed.uninstall()
        del sys.modules["shop_fast"]


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
