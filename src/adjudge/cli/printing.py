"""What the commands print: results on standard output, messages on standard error, untrusted text only as shown text."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

import msgspec

from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


WIDTH = 120
"""Characters of a line where the output is no terminal."""
GAP = "  "
"""What stands between two columns of a table."""
WANTED = 30
"""Characters of a table's last column for which other columns give way."""
NARROWEST = 10
"""Characters below which no column of words is narrowed."""


def say(message: str) -> None:
    """Print a message on standard error."""
    sys.stderr.write(shown(message).rstrip("\n") + "\n")
    sys.stderr.flush()


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words: `1 look`, `2 looks`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\uffff\U000e0000-\U000e0fff]"
)
"""What a terminal would obey or hide, of what JSON may hold as it is."""


def print_json(value: Any) -> None:
    """Print a value as indented JSON on standard output, with escapes for all that a terminal would obey or hide."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    sys.stdout.write(_UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n")


def hanging(label: str, text: str, style: str = "") -> RenderableType:
    """Text that wraps to the right of its label."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=0)
    grid.add_column(width=len(label), no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(Text(label, "dim"), Text(text, style))
    return grid


class _Trimmed(io.TextIOBase):
    """Standard output without the white space that wrapping and padding leave at the ends of lines."""

    def write(self, text: str) -> int:
        sys.stdout.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)


def results() -> Console:
    """The console for results: colours only on a terminal, nothing read as markup or emoji."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console(markup=False, emoji=False, highlight=False)
    return Console(markup=False, emoji=False, highlight=False, width=WIDTH, file=cast("IO[str]", _Trimmed()))


def messages() -> Console:
    """The console for messages and live progress, on standard error."""
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = (), ends: Sequence[int] = ()
) -> None:
    """Print a plain table of untrusted cells, one line for each row.

    `right` are the columns of numbers, `ends` those whose end tells more than their beginning, such as paths. Ids and
    numbers stay whole. The last column gets what the others leave; where that is little, the widest of them give way.
    """
    from rich.text import Text

    console = results()
    cells = [[one_line(cell, 4096 if at in ends else 200) for at, cell in enumerate(row)] for row in rows]
    widths = _widths(headings, cells, right, console.width)
    console.print(Text(_line(headings, widths, right, ()), "dim"), no_wrap=True, overflow="ignore", crop=False)
    for row in cells:
        sys.stdout.write(_line(row, widths, right, ends) + "\n")


def _widths(headings: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[int], width: int) -> list[int]:
    from rich.cells import cell_len

    *widths, last = (max(map(cell_len, column)) for column in zip(headings, *cells, strict=True))
    room = width - len(GAP) * len(widths)
    yielding = [at for at in range(1, len(widths)) if at not in right]
    while yielding and sum(widths) + min(last, WANTED) > room:
        widest = max(yielding, key=lambda at: widths[at])
        if widths[widest] <= max(NARROWEST, len(headings[widest])):
            break
        widths[widest] -= 1
    return [*widths, min(last, max(room - sum(widths), NARROWEST))]


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[int], ends: Sequence[int]) -> str:
    fitted = (_fitted(cell, widths[at], at in right, at in ends) for at, cell in enumerate(cells))
    return GAP.join(fitted).rstrip(" ")


def _fitted(text: str, width: int, right: bool, end: bool) -> str:
    """The text in so many columns of a terminal, cut where it is too long."""
    from rich.cells import cell_len, set_cell_size

    missing = width - cell_len(text)
    if missing >= 0:
        return " " * missing + text if right else text + " " * missing
    return "…" + set_cell_size(text[::-1], width - 1)[::-1] if end else set_cell_size(text, width - 1) + "…"
