"""Pages of the documentation taken apart: sections, tables, fenced blocks and the marks that stand before them.

A mark is an HTML comment on the line before a fence. `file: NAME` writes the block into the page's folder before what
follows is run, `refused: NAME` says that the block after it is the error that reading it brings, and `not run: REASON`
that a console block is not carried out by the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


class Block(NamedTuple):
    """A fenced block: its language, its text, the mark before it if there is one, and the line of its fence."""

    language: str
    text: str
    mark: str
    line: int

    def marked(self, kind: str) -> str | None:
        """What follows `kind:` in the mark, or `None`."""
        name, colon, rest = self.mark.partition(":")
        return rest.strip() if colon and name == kind else None


def pages() -> list[Path]:
    """Every page, the repository's README among them."""
    return [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"]


def name_of(page: Path) -> str:
    """The page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


_MARK = re.compile(r"\s*<!-- (.+?) -->")


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order, without the indentation of a list around them."""
    lines = page.read_text("utf-8").splitlines()
    at = 0
    while at < len(lines):
        opening = re.fullmatch(r"(\s*)```(\w*)", lines[at])
        if not opening:
            at += 1
            continue
        end = next(row for row in range(at + 1, len(lines)) if lines[row] == f"{opening[1]}```")
        mark = _MARK.fullmatch(lines[at - 1]) if at else None
        text = "".join(f"{line.removeprefix(opening[1])}\n" for line in lines[at + 1 : end])
        yield Block(opening[2], text, mark[1] if mark else "", at + 1)
        at = end + 1


def sections(page: Path) -> dict[str, str]:
    """The text below each heading of a page, up to the next heading of any level; marks of code are left out of names."""
    found: dict[str, str] = {}
    heading = ""
    fenced = False
    for line in page.read_text("utf-8").splitlines():
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("#") and not fenced:
            heading = line.lstrip("# ").replace("`", "")
            found.setdefault(heading, "")
        else:
            found[heading] = found.get(heading, "") + line + "\n"
    return found


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, heads and rules left out."""
    lines = [line.strip() for line in text.splitlines()]
    table: list[list[str]] = []
    for at, line in enumerate(lines):
        is_head = at + 1 < len(lines) and re.fullmatch(r"\|[-| :]+\|", lines[at + 1])
        if line.startswith("|") and not is_head and not re.fullmatch(r"\|[-| :]+\|", line):
            table.append([cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line[1:-1])])
    return table


def code(cell: str) -> list[str]:
    """The pieces of code in a cell."""
    return re.findall(r"`([^`]+)`", cell)
