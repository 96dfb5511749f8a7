"""Every claim about the sample app names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "sample-app-claims.md"
CLAIM = re.compile(r"^\| (?P<claim>[^|]+) \| (?P<tests>`[^|]+`) \|$", re.MULTILINE)


def claims() -> list[tuple[str, list[str]]]:
    text = PAGE.read_text(encoding="utf-8")
    return [(found["claim"], re.findall(r"`([^`]+)`", found["tests"])) for found in CLAIM.finditer(text)]


def names_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@pytest.mark.parametrize(("claim", "tests"), claims(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_tests_of_a_claim_exist(claim: str, tests: list[str]) -> None:
    for test in tests:
        file, _, name = test.partition("::")
        path = ROOT / file if file.startswith("tests/") else Path(__file__).parent / file
        assert path.exists(), f"{claim}: there is no {file}"
        assert name in names_of(path), f"{claim}: {file} has no {name}"


def test_every_line_of_the_tables_is_a_claim_with_tests() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(claims()) == len([line for line in lines if not line.startswith("| claim ")]) > 60


def test_every_sweep_is_the_evidence_of_a_claim() -> None:
    named = {test.partition("::")[2] for _, tests in claims() for test in tests}
    sweeps = {name for path in Path(__file__).parent.glob("test_*.py") for name in names_of(path) if "sweep_of" in name}
    assert sweeps <= named


def test_the_app_imports_nothing_of_the_plugin() -> None:
    assert not [name for name in imports_of_the_app() if name.startswith(("pytest", "_pytest"))]


def test_logs_are_no_evidence_because_the_app_keeps_none() -> None:
    assert not imports_of_the_app() & {"logging", "syslog", "traceback"}


def imports_of_the_app() -> set[str]:
    names: set[str] = set()
    for path in (ROOT / "sample_app").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names |= {node.module or ""} if isinstance(node, ast.ImportFrom) else set()
            names |= {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
    return names
