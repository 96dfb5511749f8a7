"""Which point names a project has."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest

from pytest_crashwindow.known import imported_points, literal_points, near_names


def names_in(root: Path, *skip: str) -> set[str]:
    return set(literal_points(root, skip))


def write(path: Path, source: str = 'import sys\nsys.audit("a.b")\n') -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)


@pytest.mark.parametrize(
    "source",
    [
        'import sys\nsys.audit("shop.paid")',
        'import sys\nsys.audit("shop.paid", order, x=1)',
        "import sys\nsys.audit(\n    'shop.paid',\n    order)",
        'from sys import audit\naudit("shop.paid", 1)',
        'from sys import audit as emit, argv\nemit("shop.paid")',
        'import sys as system\nsystem.audit("shop.paid")',
        'import sys\nemit = sys.audit\nemit("shop.paid")',
        'import sys\nPAID = "shop.paid"\nsys.audit(PAID, 1)',
        'import sys\nPAID: str = "shop.paid"\ndef f():\n    sys.audit(PAID, 1)',
        'import sys\nclass A:\n    async def f(self):\n        with x: sys.audit("shop.paid")',
        'import sys\nf = lambda: sys.audit("shop.paid")',
        'import sys\nsys.audit("shop." "paid")',
        'print "python 2"\nsys.audit("shop.paid", 1)',
        'import sys\nsys.audit("shop.paid"\n',
        '# coding: latin-1\nimport sys\nsys.audit("shop.paid")  # \xe9',
        '\ufeffimport sys\nsys.audit("shop.paid")',
    ],
)
def test_spellings(source: str, tmp_path: Path) -> None:
    encoding = "latin-1" if "latin-1" in source else "utf-8"
    (tmp_path / "shop.py").write_text(source, encoding=encoding)
    assert names_in(tmp_path) == {"shop.paid"}


@pytest.mark.parametrize(
    "source",
    [
        'import sys\nsys.audit(f"shop.{x}")',
        "import sys\nsys.audit(name)",
        "import sys\nsys.audit()",
        "import sys\nsys.audit(b'shop.paid')",
        'text = "audit: shop.paid"',
        'from other import audits as emit\nemit("shop.paid")',
        'emit("shop.paid")  # no audit',
        "# sys.audit('shop.paid')",
        '"""Call sys.audit("shop.paid")."""',
        "",
    ],
)
def test_what_is_no_literal_call(source: str, tmp_path: Path) -> None:
    write(tmp_path / "shop.py", source)
    assert names_in(tmp_path) == set()


def test_the_first_place_of_each_name_is_told(tmp_path: Path) -> None:
    write(tmp_path / "b.py", 'import sys\nsys.audit("y")\nsys.audit("x")')
    write(tmp_path / "a" / "c.py", 'import sys\n\nsys.audit("x")\nsys.audit("x")')
    assert literal_points(tmp_path) == {"y": (tmp_path / "b.py", 2), "x": (tmp_path / "b.py", 3)}


def test_files_that_cannot_be_parsed_tell_the_line_too(tmp_path: Path) -> None:
    write(tmp_path / "a.py", 'import sys\n\nsys.audit("x"\nsys.audit("y")')
    assert literal_points(tmp_path) == {"x": (tmp_path / "a.py", 3), "y": (tmp_path / "a.py", 4)}


@pytest.mark.parametrize("content", [b"audit(\x00", b"audit('\xff\xfe')", b"audit(" + b"(" * 5000])
def test_odd_files_are_no_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(content)
    (tmp_path / "dir.py").mkdir()
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere")
    literal_points(tmp_path)


def test_syntax_warnings_of_a_file_are_kept_quiet(tmp_path: Path) -> None:
    write(tmp_path / "a.py", 'import sys\nsys.audit("x")\n"\\d" is 1\n')
    assert names_in(tmp_path) == {"x"}


@pytest.mark.parametrize(
    "directory",
    [
        ".hidden",
        "__pycache__",
        "node_modules",
        "site-packages",
        "deep/.tox/py",
        "build",
        "a/dist/b",
        "tests/data",
    ],
)
def test_directories_that_are_left_out(directory: str, tmp_path: Path) -> None:
    write(tmp_path / directory / "x.py")
    write(tmp_path / "kept" / "x.py", 'import sys\nsys.audit("kept")')
    assert names_in(tmp_path, "build", "dist", "tests/data") == {"kept"}


def test_virtual_environments_are_left_out_whatever_their_name(tmp_path: Path) -> None:
    write(tmp_path / "mine" / "lib" / "x.py")
    (tmp_path / "mine" / "pyvenv.cfg").touch()
    assert names_in(tmp_path) == set()


def test_globs_are_for_names_or_paths(tmp_path: Path) -> None:
    write(tmp_path / "one_old" / "x.py", 'import sys\nsys.audit("one")')
    write(tmp_path / "a" / "old" / "x.py", 'import sys\nsys.audit("two")')
    write(tmp_path / "b" / "old" / "x.py", 'import sys\nsys.audit("three")')
    assert names_in(tmp_path, "*_old", "a/old") == {"three"}
    assert names_in(tmp_path, f"{tmp_path}/b") == {"one", "two"}


def test_a_root_in_a_hidden_directory_is_searched(tmp_path: Path) -> None:
    write(tmp_path / ".work" / "x.py")
    assert names_in(tmp_path / ".work") == {"a.b"}


def test_imported_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "one.py", 'import sys\nsys.audit("one")')
    for name, file in {"one": tmp_path / "one.py", "two": tmp_path / "two.so", "three": None}.items():
        module = types.ModuleType(name)
        module.__file__ = str(file) if file else None
        monkeypatch.setitem(sys.modules, f"crashwindow_{name}", module)
    found = imported_points()
    assert found["one"] == (tmp_path / "one.py", 2)
    assert "glob.glob" not in found
    assert "subprocess.Popen" not in found


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("shop.order.commited", "shop.order.committed"),
        ("Shop.Order.Committed", "shop.order.committed"),
        ("order.committed", "shop.order.committed"),
        ("committed", "shop.order.committed"),
        ("Mailer.send", "shop.mail:Mailer.send"),
        ("shop:Mailer.send", "shop.mail:Mailer.send"),
        ("app.mail:Mailer.send:enter", "shop.mail:Mailer.send"),
        ("sqlite.commit", "sqlite3.commit"),
        ("payments.paid", "shop.invoice.paid"),
    ],
)
def test_near_names(name: str, near: str) -> None:
    known = [
        "os.replace",
        "shop.order.committed",
        "shop.invoice.paid",
        "shop.mail:Mailer.send",
        "sqlite3.commit",
    ]
    assert near_names(name, known)[0] == near


def test_near_names_are_few_different_and_not_the_name_itself() -> None:
    assert near_names("shop.a1", {f"shop.a{n}": None for n in range(9)}, n=2) == ["shop.a8", "shop.a7"]
    assert near_names("a", ["a"]) == []
    assert near_names("zzz", ["shop.paid"]) == []
    assert near_names("a", []) == []
