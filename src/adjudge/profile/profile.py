"""The profile of a record: figures and hints, of its own calls and, apart from them, of each sub-agent's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from adjudge.profile.actions import actions_of
from adjudge.profile.hints import AfterLastEdit, Hint, after_last_edit, hints_of
from adjudge.profile.ledger import Ledger, ledger_of
from adjudge.record import Record


class Profile(msgspec.Struct, frozen=True):
    """What the calls of a record were for, what its turns consumed, and the hints.

    `name` is "" or a sub-agent's (`s1`, `s1.s2`), `label` what the recording calls it. `kinds` counts the calls by what
    each is counted as, `unknown` those of each program or tool that no rule knows, the most frequent first. `children` are
    the profiles of all sub-agents, those of sub-agents too; they have no children of their own.
    """

    name: str
    label: str | None
    turns: int
    calls: int
    kinds: tuple[tuple[str, int], ...]
    unknown: tuple[tuple[str, int], ...]
    ledger: Ledger
    after_last_edit: AfterLastEdit | None
    hints: tuple[Hint, ...]
    children: tuple[Profile, ...] = ()


def profile(record: Record, most: int | None = None) -> Profile:
    """The profile of a record, and of its first `most` sub-agents, or of all; the same for the same record."""
    children = tuple(_profile(name, child) for name, child in islice(_descendants(record), most))
    return msgspec.structs.replace(_profile("", record), children=children)


def _profile(name: str, record: Record) -> Profile:
    actions, ledger = actions_of(record), ledger_of(record)
    after = after_last_edit(actions, ledger)
    return Profile(
        name=name,
        label=record.label,
        turns=len(record.turns),
        calls=len(actions),
        kinds=_counted([action.kind for action in actions]),
        unknown=_counted([word for action in actions for word in action.unknown]),
        ledger=ledger,
        after_last_edit=after,
        hints=hints_of(actions, ledger, after),
    )


def _counted(words: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))


def _descendants(record: Record) -> Iterator[tuple[str, Record]]:
    """The sub-agents at any depth with their names, in order, without recursion."""
    waiting = [(f"s{number}", child) for number, child in enumerate(record.children, 1)]
    while waiting:
        name, child = waiting.pop(0)
        yield name, child
        waiting[:0] = [(f"{name}.s{number}", inner) for number, inner in enumerate(child.children, 1)]
