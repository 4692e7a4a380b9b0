"""A second program that reads a prepared trajectory back, knowing only what a reader is told of its layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Item:
    """An entry, or a stretch of entries that were left out, with texts and numbers of characters in order."""

    header: str
    parts: list[str | tuple[str, int]] = field(default_factory=list)


_LEFT_OUT = re.compile(r"left out: (.*?),? ?(\d+) characters( here)?")


def items(trajectory: str, token: str) -> list[Item]:
    """What stands in a trajectory."""
    begins, ends = f"<<{token}\n", f"\n{token}>>"
    assert trajectory.startswith(begins)
    assert trajectory.endswith(ends)
    inside = trajectory[len(begins) : -len(ends)]
    found: list[Item] = []
    for line, text in _blocks(inside, token):
        if line.startswith("left out: "):
            match = _LEFT_OUT.fullmatch(line)
            assert match, line
            if "entries (" in match[1]:
                found.append(Item(line, [(match[1], int(match[2]))]))
                continue
            found[-1].parts.append((match[1], int(match[2])))
        else:
            found.append(Item(line))
        if text is not None:
            found[-1].parts.append(text)
    return found


def _blocks(inside: str, token: str) -> Iterator[tuple[str, str | None]]:
    """Each line of adjudge's, and the text below it."""
    for block in re.split(rf"(?:^|\n){token} ", inside)[1:]:
        line, newline, text = block.partition("\n")
        yield line, text if newline else None
