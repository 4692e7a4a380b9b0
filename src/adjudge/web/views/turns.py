"""Turns as a page shows them: their entries, and each tool call folded with its results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec
from markupsafe import Markup

from adjudge.record import Entry, Turn
from adjudge.untrusted import one_line
from adjudge.web.queries.calls import said
from adjudge.web.queries.windows import Window
from adjudge.web.text import Mark, money, size, tokens, when
from adjudge.web.views.entries import EntryView, entry_view

Marks = Mapping[str, Sequence[Mark]]
Leading = Callable[[str], Markup]
"""From an entry's id to the address of a page that is opened there."""

WIDTH = 160
"""Characters of what was asked that stand on a folded call."""


class CallView(msgspec.Struct, frozen=True):
    """A tool call with its results, in one line that unfolds; or results whose call stands elsewhere.

    `says` is the first line of what was asked, or of a lone result. `open` is true if something in it is cited, or if the
    page was opened there.
    """

    id: str
    tool: str
    says: str
    facts: tuple[str, ...]
    failures: tuple[str, ...]
    entries: tuple[EntryView, ...]
    open: bool


class TurnView(msgspec.Struct, frozen=True):
    """What stands in one turn, in order; `anchor` is the turn's name where it begins here, else `None`.

    `continues` is that name if its first part stands elsewhere.
    """

    anchor: str | None
    continues: str | None
    title: str
    facts: tuple[str, ...]
    parts: tuple[EntryView | CallView, ...]


def turns_of(run: str, window: Window, marks: Marks, to: Leading, at: str | None = None) -> tuple[TurnView, ...]:
    """The entries of a window by turn, each with its own link; the page was opened at the entry `at`."""
    return tuple(_turns(run, window, marks, to, at))


def _turns(run: str, window: Window, marks: Marks, to: Leading, at: str | None) -> Iterator[TurnView]:
    turns = {turn.number: turn for turn in window.turns}
    results = {entry.answers: entry.id for entry in window.entries if entry.kind == "result" and entry.answers}
    for number, group in groupby(window.entries, lambda entry: entry.turn):
        entries = list(group)
        turn = turns.get(number)
        begins = turn is not None and turn.first == entries[0].id
        name = f"{window.record}.t{number}" if window.record else f"t{number}"
        yield TurnView(
            anchor=name if begins else None,
            continues=name if turn and not begins else None,
            title=_title(number, entries, begins),
            facts=facts_of_turn(turn) if turn and begins else (),
            parts=tuple(_parts(run, entries, results, marks, to, at)),
        )


def _parts(
    run: str, entries: Sequence[Entry], results: Mapping[str, str], marks: Marks, to: Leading, at: str | None
) -> Iterator[EntryView | CallView]:
    for group in _with_results(entries):
        views = tuple(entry_view(run, entry, marks.get(entry.id, ()), to(entry.id)) for entry in group)
        yield _call(group, views, results, at) if group[0].kind in ("call", "result") else views[0]


def _with_results(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Each entry alone, in order, but results with the call that they answer.

    That is, as long as nothing but calls and results stands between: what was said meanwhile, and when, keeps its place.
    """
    groups = list[list[Entry]]()
    calls = dict[str, list[Entry]]()
    for entry in entries:
        if entry.kind == "result" and entry.answers in calls:
            calls[entry.answers].append(entry)
            continue
        if entry.kind not in ("call", "result"):
            calls.clear()
        groups.append([entry])
        if entry.kind == "call":
            calls[entry.id] = groups[-1]
    return groups


def _call(group: Sequence[Entry], views: Sequence[EntryView], results: Mapping[str, str], at: str | None) -> CallView:
    first = group[0]
    return CallView(
        id=first.id,
        tool=first.name or first.kind,
        says=one_line(_ARGUMENT.sub("", said(first)) if first.arguments else said(first), WIDTH),
        facts=tuple(_facts(group, views, results)),
        failures=tuple(dict.fromkeys(failure for view in views for failure in view.failures)),
        entries=tuple(views),
        open=any(view.chips for view in views) or at in [entry.id for entry in group],
    )


_ARGUMENT = re.compile(r"\A[A-Za-z_]{1,40}: ")
"""The name of a call's first argument, which says less than what it names."""


def _facts(group: Sequence[Entry], views: Sequence[EntryView], results: Mapping[str, str]) -> Iterator[str]:
    """Whose results they are that stand alone, how the call ended, and how much came back."""
    first, came = group[0], [entry for entry in group if entry.kind == "result"]
    if first.kind == "result" and first.answers:
        yield f"of {first.answers}"
    if not came:
        yield f"result at {results[first.id]}" if first.id in results else "no result here"
        return
    if any(entry.exit_status == 0 for entry in came):
        yield "exit 0"
    yield size(sum(view.size for view, entry in zip(views, group, strict=True) if entry.kind == "result"))


def _title(number: int, entries: Sequence[Entry], begins: bool) -> str:
    if number:
        return f"Turn {number}" + ("" if begins else ", continued")
    return "Task" if any(entry.writer == "user" for entry in entries) else "Before the first turn"


def facts_of_turn(turn: Turn) -> tuple[str, ...]:
    """What a turn consumed, in a few words; only what is known."""
    usage, facts = turn.usage, []
    if usage and usage.prompt is not None:
        cached = f", {usage.cached / usage.prompt:.0%} cached" if usage.cached and usage.prompt else ""
        facts.append(f"{tokens(usage.prompt)} in{cached}")
    if usage and usage.output is not None:
        facts.append(f"{tokens(usage.output)} out")
    if usage and usage.cost is not None:
        facts.append(money(usage.cost))
    return (*facts, *((when(turn.time),) if turn.time else ()))
