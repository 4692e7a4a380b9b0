"""Entries as a page shows them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from markupsafe import Markup

from adjudge.record import Entry
from adjudge.web.addresses import address
from adjudge.web.queries.calls import without_tool
from adjudge.web.text import Block, Mark, block_of, size
from adjudge.web.views.edits import Change, changes_of


class EntryView(msgspec.Struct, frozen=True):
    """An entry; `href` is a link to keep. `facts` are said quietly, `failures` not; `chips` lead back to what cites it.

    `anchors` are places of quotes that could not be marked within. `changes` are what an editing call changes; its text is
    then folded, unless something is quoted from it. `size` is the text's number of bytes.
    """

    id: str
    href: Markup
    shape: str
    title: str
    facts: tuple[str, ...]
    failures: tuple[str, ...]
    chips: tuple[Mark, ...]
    anchors: tuple[str, ...]
    text: Markup
    size: int
    changes: tuple[Change, ...]
    open: bool


def entry_view(run: str, entry: Entry, marks: Sequence[Mark], href: Markup) -> EntryView:
    """An entry as a page shows it."""
    whole = address("runs", run, "exhibits", entry.id)
    text = _text(entry, marks, whole)
    missing = [mark for mark in marks if mark.anchor in text.unplaced]
    if missing and entry.arguments and entry.arguments != entry.text:
        text = _with_arguments(text, block_of(entry.arguments, missing, whole))
    changes = changes_of(entry)
    quoted = any(mark.holds for mark in marks)
    return EntryView(
        id=entry.id,
        href=href,
        shape=_shape(entry),
        title=title_of(entry),
        facts=(*_facts(entry), *((size(text.size),) if text.size > 1000 else ())),
        failures=failures_of(entry),
        chips=tuple({mark.back: mark for mark in marks}.values()),
        anchors=text.unplaced,
        text=text.html,
        size=text.size,
        changes=changes,
        open=not changes or quoted,
    )


def _text(entry: Entry, marks: Sequence[Mark], whole: str) -> Block:
    """The text; of a call without the tool's name, which stands above it, unless something is quoted from there."""
    bare = bare_text(entry)
    if bare != entry.text:
        block = block_of(bare, marks, whole)
        if not block.unplaced:
            return block
    return block_of(entry.text, marks, whole)


def bare_text(entry: Entry) -> str:
    """What an entry says; of a call without its tool's name, and without that of its one argument, a command."""
    rest = without_tool(entry)
    return rest if rest is entry.text else rest.removeprefix("command: ")


def _with_arguments(text: Block, arguments: Block) -> Block:
    return Block(text.html + arguments.html, text.size, arguments.unplaced)


def _shape(entry: Entry) -> str:
    if entry.kind in ("message", "reasoning") and not _looks_like_code(entry.text):
        return f"{entry.kind} prose"
    return entry.kind


def _looks_like_code(text: str) -> bool:
    """Whether a message is better read in columns: a patch, a table, markup."""
    return text.startswith(("diff --git", "--- ", "<?xml", "{", "["))


def title_of(entry: Entry) -> str:
    """What an entry is, in a few words."""
    if entry.kind in ("call", "result"):
        return f"{entry.kind} {entry.name}" if entry.name else entry.kind
    if entry.writer == "agent":
        return entry.kind
    if entry.writer == "user":
        return "task" if entry.turn == 0 else "message by user"
    return f"{entry.kind} by {entry.writer}" + (f" ({entry.origin})" if entry.origin else "")


def _facts(entry: Entry) -> tuple[str, ...]:
    status = "exit 0" if entry.exit_status == 0 else None
    answers = f"of {entry.answers}" if entry.kind == "result" and entry.answers else None
    return tuple(fact for fact in (answers, status) if fact)


def failures_of(entry: Entry) -> tuple[str, ...]:
    """What went wrong in an entry, as the recording states it."""
    status = f"exit {entry.exit_status}" if entry.exit_status else None
    return tuple(fact for fact in (status, "error" if entry.is_error else None) if fact)
