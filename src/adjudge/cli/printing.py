"""What the commands print: results on standard output, messages on standard error, untrusted text only as shown text."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


WIDTH = 120
"""Characters of a line where the output is no terminal."""


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


def results() -> Console:
    """The console for results: colours only on a terminal, nothing read as markup or emoji."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH
    return Console(markup=False, emoji=False, highlight=False, width=width)


def messages() -> Console:
    """The console for messages and live progress, on standard error."""
    from rich.console import Console

    return Console(stderr=True, markup=False, emoji=False, highlight=False)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> RenderableType:
    """A plain table whose cells are untrusted, each on one line; `right` are the columns of numbers.

    The last column gives way when a line is too narrow for all.
    """
    from rich.table import Table
    from rich.text import Text

    built = Table(box=None, expand=True, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for number, heading in enumerate(headings):
        last = number == len(headings) - 1
        built.add_column(
            heading,
            justify="right" if number in right else "left",
            no_wrap=True,
            overflow="ellipsis",
            ratio=1 if last else None,
            min_width=None if last else min(len(heading), 8),
        )
    for row in rows:
        built.add_row(*(Text(one_line(cell, 200)) for cell in row))
    return built
