"""The map of a run: by turn, what is cited, how large the prompts were, where files were edited, and what was spent.

All lanes have the same x, so that one sees whether evidence comes before or after the last edit. It is drawn here, as
SVG of a fixed size that the page stretches.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from markupsafe import Markup, escape

from adjudge.record import Turn
from adjudge.untrusted import shown
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.columns import Column
from adjudge.web.queries.kept import OpenRun
from adjudge.web.text import Mark, money, tokens

WIDTH, HEIGHT = 1120, 104
BASE, PROMPTS = 80, 52
"""Where the prompts stand, and how high the largest is."""
SPENT = 20
WALKED = 3_000
"""Entries of a record in which edits are looked for while the page waits; of a longer one the script fetches the map."""


class Map(msgspec.Struct, frozen=True):
    """The drawing with its words. `load` is where the script fetches it with edits, `None` if they are on it."""

    svg: Markup
    label: str
    most_prompt: str
    most_spent: str
    lanes: tuple[str, ...]
    ticks: tuple[str, ...]
    load: Markup | None


def map_of(opened: OpenRun, marks: Mapping[str, Sequence[Mark]], judgment: str | None, edits: bool) -> Map | None:
    """The map of a run, with edits if they are asked for or the record is short; `None` of a run with nothing to draw."""
    turns = opened.run.record.turns
    if not turns:
        return None
    short = len(opened.run.record.entries) <= WALKED
    edited = opened.edits if edits or short else frozenset()
    columns, priced = opened.columns.columns, opened.columns.priced
    cited = _cited(opened, marks)
    most, spent = max(column.prompt for column in columns), max(column.spent for column in columns)
    label = _label(turns, most, cited)
    lanes = _lanes(most, spent, priced, edited, cited)
    if not lanes and short and not edits:
        return None
    drawn = (_prompts(columns, most), _spent(columns, spent), _edits(columns, edited))
    body = Markup("".join((*drawn, _links(opened.run.id, judgment, columns, cited))))  # noqa: S704  made below
    frame = Markup('<svg viewBox="0 0 {} {}" preserveAspectRatio="none" role="group" aria-label="{}">{}</svg>')
    return Map(
        svg=frame.format(WIDTH, HEIGHT, label, body),
        label=label,
        most_prompt=tokens(most) if most else "",
        most_spent=(money(spent) if priced else f"{tokens(int(spent))} out") if spent else "",
        lanes=lanes,
        ticks=_ticks(turns),
        load=None if edits or short else address("runs", opened.run.id, "map", judgment=judgment),
    )


def _cited(opened: OpenRun, marks: Mapping[str, Sequence[Mark]]) -> dict[int, tuple[str, Mark]]:
    """By turn the exhibit that is cited there, and by whom; what a fail or a worse value cites comes first."""
    found: dict[int, tuple[str, Mark]] = {}
    for exhibit, cites in marks.items():
        place = opened.place_of(exhibit)
        holding = [mark for mark in cites if mark.holds]
        if place is None or place[0] or not holding:
            continue
        turn = opened.turn_at("", place[1])
        best = min(holding, key=lambda mark: _FIRST.index(mark.sign))
        if turn not in found or _FIRST.index(best.sign) < _FIRST.index(found[turn][1].sign):
            found[turn] = (exhibit, best)
    return found


_FIRST = ("fail", "warn", "pass", "none")

# --- lanes: nothing but numbers, so that they are put together as text


def _prompts(columns: Sequence[Column], most: int) -> str:
    if not most:
        return ""
    step = WIDTH / len(columns)
    points, fresh = [f"M0 {BASE}"], []
    for number, column in enumerate(columns):
        top = BASE - PROMPTS * column.prompt / most
        points.append(f"L{number * step:.1f} {top:.1f}L{(number + 1) * step:.1f} {top:.1f}")
        if column.prompt:
            fresh.append(_rect(number * step, top, step, max(0.6, PROMPTS * (column.prompt - column.cached) / most)))
    area = f'<path class="m-area" d="{"".join(points)}L{WIDTH} {BASE}Z"/>'
    return f'{area}<g class="m-new">{"".join(fresh)}</g>'


def _spent(columns: Sequence[Column], most: float) -> str:
    base = f'<path class="m-base" d="M0 {BASE}H{WIDTH}"/>'
    if not most:
        return base
    step = WIDTH / len(columns)
    heights = [SPENT * column.spent / most for column in columns]
    bars = [_rect((n + 0.1) * step, HEIGHT - high, 0.8 * step, high) for n, high in enumerate(heights) if high]
    return f'{base}<g class="m-spend">{"".join(bars)}</g>'


def _edits(columns: Sequence[Column], edited: Iterable[int]) -> str:
    step = WIDTH / len(columns)
    columns_with = {bisect_left(columns, turn, key=lambda column: column.last) for turn in edited}
    posts = [_rect((number + 0.5) * step - 3, 22, 6, BASE - 22) for number in sorted(columns_with)]
    return f'<g class="m-edit">{"".join(posts)}</g>'


def _links(run: str, judgment: str | None, columns: Sequence[Column], cited: Mapping[int, tuple[str, Mark]]) -> str:
    """A link for each column; what is cited has a sign in its lane, and leads to the quoted words."""
    step = WIDTH / len(columns)
    found = {bisect_left(columns, turn, key=lambda column: column.last): turn for turn in sorted(cited, reverse=True)}
    made = []
    for number, column in enumerate(columns):
        x = number * step
        if number in found:
            turn = found[number]
            exhibit, mark = cited[turn]
            title, href = f"Turn {turn}, cited by {mark.label}", of_run(run, at=mark.anchor, at_=exhibit, judgment=judgment)
            width = max(8, step - 1)
            sign = _rect(x + step / 2 - width / 2, 4, width, 8, f"m-{mark.sign}")
        else:
            name = f"t{column.first}"
            title, href, sign = f"Turn {column.first}", of_run(run, at=name, at_=name, judgment=judgment), ""
        hit = _rect(x, 0, step, HEIGHT, "m-hit")
        made.append(f'<a href="{href}" aria-label="{escape(shown(title))}">{sign}{hit}</a>')
    return "".join(made)


def _rect(x: float, y: float, width: float, height: float, shape: str = "") -> str:
    named = f' class="{shape}"' if shape else ""
    return f'<rect{named} x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


# --- words


def _label(turns: Sequence[Turn], most: int, cited: Mapping[int, tuple[str, Mark]]) -> str:
    first = next((turn.usage.prompt for turn in turns if turn.usage and turn.usage.prompt), None)
    grows = (
        f"Prompts of {tokens(first)} at first and at most {tokens(most)} tokens" if first else "Prompt sizes are not known"
    )
    numbers = ", ".join(map(str, sorted(cited)[:40]))
    return f"{grows}, over {len(turns):,} turns; " + (f"cited are turns {numbers}" if numbers else "no turn is cited")


def _lanes(
    most: int, spent: float, priced: bool, edited: Iterable[int], cited: Mapping[int, tuple[str, Mark]]
) -> tuple[str, ...]:
    worse = any(mark.sign == "warn" for _, mark in cited.values())
    there = {"cited": cited, "worse": worse, "prompts": most, "edits": set(edited), "spend" if priced else "out": spent}
    return tuple(name for name, value in there.items() if value)


def _ticks(turns: Sequence[Turn]) -> tuple[str, ...]:
    count = len(turns)
    if count < 8:
        return tuple(str(turn.number) for turn in (turns[0], turns[-1]))
    shown = [*(turns[count * part // 4] for part in range(4)), turns[-1]]
    return tuple(f"{turn.number:,}" for turn in shown)
