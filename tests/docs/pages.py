"""Markdown pages as the tests see them: fenced blocks, links, anchors; and how their examples are run.

A block is run when its info string says how:

    ```python title=test_shop.py     written to that file of the page's folder (any language)
    ```console                       `$ command`, then what it prints

In printed text a line `...` stands for any lines. Times, process ids, paths and the width of rules don't
count. Run as a program, this writes what the commands print into the pages, and the blocks of a page into its
translation:

    python tests/docs/pages.py docs/tutorial.md
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("README*.md"), *ROOT.glob("docs/**/*.md")])

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_TIMEOUT = 120  # seconds for one command


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    start: int
    """of its text, in the page"""
    info: str
    text: str

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.page.read_text(encoding="utf-8").count("\n", 0, self.start)

    @property
    def language(self) -> str:
        """The first word of the info string."""
        return self.info.split()[0] if self.info.strip() else ""

    @property
    def title(self) -> str | None:
        """The file to write it to."""
        found = re.search(r"title=(\S+)", self.info)
        return found[1] if found else None


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(page, found.start("text"), found["info"], found["text"]) for found in _FENCE.finditer(text)]


def without_blocks(page: Path) -> str:
    """The text of a page with its fenced blocks left out."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(block: Block) -> list[tuple[str, str]]:
    """Of a console block: each command and what it is said to print."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), f"{block.page}:{block.line}: a console block begins with `$ `"
    return list(zip(parts[1::2], parts[2::2], strict=True))


# -- running -------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """Of the commands: this interpreter's scripts, a fixed width, no order but the written one."""
    inherited = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PYTEST", "CRASHWINDOW", "COV", "GITHUB", "CI", "BUILD_NUMBER"))
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return inherited | {
        "PATH": path,
        "COLUMNS": "100",
        "PYTEST_ADDOPTS": "-p no:randomly",
        "PYTHONDONTWRITEBYTECODE": "1",  # two versions of a file may be of the same second and size
    }


def run(command: str, folder: Path) -> str:
    """What a command prints to stdout; what it prints to stderr is for whoever looks for an error."""
    shell = ["bash", "-c", command]
    ended = subprocess.run(
        shell, cwd=folder, env=environment(), capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    return ended.stdout or (ended.stderr if ended.returncode else "")


def play(page: Path, folder: Path) -> list[tuple[Block, str, str, str]]:
    """Write the files and run the commands of a page: block, command, what it should print and did."""
    played = []
    for block in blocks(page):
        if block.title is not None:
            file = folder / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            played += [(block, command, said, run(command, folder)) for command, said in commands(block)]
    return played


# -- comparing -----------------------------------------------------------------------------------

_LEFT_OUT = re.compile(
    r"^(platform|rootdir:|plugins:|cachedir:|configfile:|asyncio: mode|timeout( method)?:|created:)"
    r"|^(bringing up nodes|slow: |crash windows: \d+ of \d+ known, )"
)
_DOTS = re.compile(r"^[.FEsxX]+( *\[ *\d+%\])?$")  # they run on after a line of progress, as on a slow machine
_ALIKE = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(/[\w.\-]+)*/pytest-of-[\w\-]+/pytest-\d+"), "<tmp>"),
    (re.compile(r"<tmp>/popen-gw\d+"), "<tmp>"),
    (re.compile(r"0x[0-9a-f]+"), "0x"),
    (re.compile(r"pid \d+"), "pid N"),
    (re.compile(r" *\d+\.\d+ ms"), " N ms"),
    (re.compile(r"\d+(\.\d+)?s\b"), "N s"),
    (re.compile(r"\d+\.\d+ s\b"), "N s"),
    (re.compile(r"0\.\d+ seconds"), "N seconds"),
    (re.compile(r"([=_\-])\1{3,}"), r"\1\1\1"),
    (re.compile(r"^((FAILED|ERROR) \S+) - .*"), r"\1"),  # cut to the width, and not by every pytest
    (re.compile(r" +"), " "),
)


def alike(text: str, folder: Path | None = None) -> list[str]:
    """The lines of printed text, without what differs from run to run."""
    if folder is not None:
        text = text.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "").replace(str(folder), "")
    lines = []
    for line in text.splitlines():
        if _LEFT_OUT.match(line):
            continue
        for pattern, plain in _ALIKE:
            line = pattern.sub(plain, line)
        if _DOTS.match(line) and line != "...":
            line = line.partition("[")[0].strip()
            line = lines.pop() + line if lines and _DOTS.match(lines[-1]) else line
        lines.append(line.strip())
    return [line for line in lines if line]


def first_difference(said: list[str], printed: list[str]) -> str | None:
    """None if the printed lines are as the page says, `...` standing for any number of lines."""
    expression = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in said)
    if re.fullmatch(expression, "".join(f"{line}\n" for line in printed)):
        return None
    for one in said:
        if one != "..." and one not in printed:
            return one
    return next((one for one in printed if one not in said), "the order of lines")


# -- writing -------------------------------------------------------------------------------------


def rewrite(page: Path) -> None:
    """Put what the commands print into a page. Text that still holds is left, and so is what has `...`."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, page.stem)
        folder.mkdir()
        played = play(page, folder)
        for block in reversed(list(dict.fromkeys(block for block, *_ in played))):
            new = "".join(_shown(c, said, printed, folder) for b, c, said, printed in played if b == block)
            text = text[: block.start] + new + text[block.start + len(block.text) :]
    page.write_text(text, encoding="utf-8")


def _shown(command: str, said: str, printed: str, folder: Path) -> str:
    difference = first_difference(alike(said), alike(printed, folder))
    if difference is None:
        return f"$ {command}\n{said}"
    if re.search(r"^\.\.\.$", said, re.MULTILINE):
        print(f"left as it is, look at it yourself: $ {command}: {difference}\n{printed}", file=sys.stderr)
        return f"$ {command}\n{said}"
    clean = printed.replace(f"{folder.resolve()}/", "").replace(f"{folder}/", "")
    clean = re.sub(r"(/[\w.\-]+)*/pytest-of-[\w\-]+/pytest-\d+", "/tmp/pytest-of-you/pytest-0", clean)
    return f"$ {command}\n" + "".join(f"{line.rstrip()}\n" for line in clean.splitlines() if not _LEFT_OUT.match(line))


def translation(page: Path) -> Path:
    """Where the same page is in Chinese, if it is."""
    return page.with_suffix(".zh-CN.md")


def copy_blocks(page: Path) -> None:
    """Put the runnable blocks of a page into its translation, in order."""
    other = translation(page)
    source = [block for block in blocks(page) if is_shared(block)]
    target = [block for block in blocks(other) if is_shared(block)]
    text = other.read_text(encoding="utf-8")
    for new, old in reversed(list(zip(source, target, strict=True))):
        text = text[: old.start] + new.text + text[old.start + len(old.text) :]
    other.write_text(text, encoding="utf-8")


def is_shared(block: Block) -> bool:
    """Whether it must be the same in a translation. Commands that are only to be read may have comments."""
    return block.language != "sh"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        rewrite(Path(name))
        if translation(Path(name)).exists():
            copy_blocks(Path(name))
