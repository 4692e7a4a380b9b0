"""Figures over turns as columns of block characters, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

WIDTH = 84
"""Columns of a plot, the figures on its left not counted."""
HEIGHT = 5
"""Lines of a plot."""

_BLOCKS = " ▁▂▃▄▅▆▇█"

Values = Sequence[float | None]


def plot(
    name: str, values: Values, together: Callable[[Sequence[float]], float], written: Callable[[float], str]
) -> list[str]:
    """The lines of a plot of one value for each turn; `together` makes one of those that share a column: `max` or `sum`.

    The first line says which. A column without a known value stays empty, and its place on the axis is a dot.
    """
    columns = binned(values, together)
    most = max((value for value in columns if value is not None), default=0.0)
    margin = max(len(written(most)), 1)
    how = {max: "the largest of them", sum: "their sum"}[together]
    shared = f", {-(-len(values) // len(columns))} turns in a column, {how} shown" if len(columns) < len(values) else ""
    lines = [f"{name} by turn{shared}"]
    for row in range(HEIGHT - 1, -1, -1):
        left = written(most) if row == HEIGHT - 1 else ""
        lines.append(f"{left:>{margin}} │{''.join(_block(value, most, row) for value in columns)}".rstrip())
    lines.append(f"{'0':>{margin}} └{''.join('·' if value is None else '─' for value in columns)}")
    return [*lines, f"{'':>{margin}}  {_ends(len(values), len(columns))}"]


def binned(values: Values, together: Callable[[Sequence[float]], float]) -> list[float | None]:
    """At most as many values as there are columns, each of the same number of turns but for the last."""
    size = max(-(-len(values) // WIDTH), 1)
    bins = ([value for value in values[at : at + size] if value is not None] for at in range(0, len(values), size))
    return [together(known) if known else None for known in bins]


def _block(value: float | None, most: float, row: int) -> str:
    """What stands in one line of a column; a value above 0 is seen in the lowest line, however small."""
    if not value or not most:
        return " "
    eighths = max(round(value / most * HEIGHT * 8), 1) - row * 8
    return _BLOCKS[min(max(eighths, 0), 8)]


def _ends(turns: int, columns: int) -> str:
    """The first turn's number and the last's, below their columns."""
    last = str(turns)
    return "1" if turns < 2 else f"1{last:>{max(columns - 1, len(last) + 1)}}"
