"""The record of a run: everything an agent produced, in order, as immutable entries with stable ids.

Who wrote an entry is a field that the importer sets from the structure of the recording. No code anywhere may conclude
it from the entry's text: a message that looks like a tool result is a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import Any, Literal

import msgspec

Kind = Literal["message", "reasoning", "call", "result", "event"]
Writer = Literal["user", "agent", "tool", "harness"]
Fact = Literal["results", "exit_statuses", "errors", "times", "tokens", "cost", "reasoning"]


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):  # it holds nothing that could hold it
    """What model calls consumed. `None` means that the recording does not say; it never means zero.

    `prompt` counts every token sent, those read from a cache (`cached`) and written to one (`written`) included;
    `output` counts every token received, those spent on `reasoning` included. `cost` is in US dollars.
    """

    prompt: int | None = None
    cached: int | None = None
    written: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        """The sum, field by field; a field that neither side knows stays unknown."""
        return Usage(*(_sum(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__))


def dollars(amount: float) -> str:
    """An amount in US dollars: four decimals, of less than a tenth of a cent the first two digits, never an exponent."""
    if 0 < amount < 0.001:
        return f"${Decimal(f'{amount:.1e}').normalize():f}"
    return f"${amount:.4f}"


def _sum(left: Any, right: Any) -> Any:
    return right if left is None else left if right is None else left + right


def _total(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One item of a record.

    `text` is what a quote is checked against: a message, a piece of reasoning, a tool's output, or for a call its tool's
    name and arguments as readable lines (`arguments` keeps them as JSON). `answers` is the id of the call that a result
    belongs to, `None` if the recording has no such call. `origin` names what put a harness's entry there
    ("system-reminder", "hook", "summary", "memory", "copied", …). `time` stays as it was written, naive or not.
    """

    id: str
    kind: Kind
    writer: Writer
    turn: int
    text: str
    name: str | None = None
    arguments: str | None = None
    answers: str | None = None
    exit_status: int | None = None
    is_error: bool | None = None
    time: str | None = None
    origin: str | None = None


class Turn(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):  # nor does this: thirty thousand are no work then
    """One model response and what came back for it. Turn 0 is what stood before the first response and has no `Turn`."""

    number: int
    first: str
    model: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    time: str | None = None


class Unparsed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of the recording that became no entry, with its place (such as `session.jsonl:17`) and the reason."""

    place: str
    reason: str
    size: int = 0


class Record(msgspec.Struct, frozen=True):
    """Everything one agent produced, and what its recording can tell at all.

    `entries` may be a tuple or a sequence that decodes from disk as it is read, so that a record of a gigabyte can be
    walked in little memory. `tells` lists the facts that the recording states somewhere; what it does not state is not
    established. `skipped` counts, by kind, lines that are known to hold nothing for a judge. `children` are the records
    of sub-agents, whose entry ids start with `s1.`, `s2.`, …; `final` is the id of the agent's last message if no call
    followed it. `reported` is the total that the harness itself states. `unpaired` are the ids of calls without a result
    and of results without a call. `used` counts the rows of the recording that are in here; in a format of rows those used,
    skipped and unparsed are together all that there are.
    """

    format: str
    entries: Sequence[Entry]
    turns: tuple[Turn, ...] = ()
    tells: frozenset[Fact] = frozenset()
    unparsed: tuple[Unparsed, ...] = ()
    skipped: dict[str, int] = {}
    children: tuple[Record, ...] = ()
    final: str | None = None
    reported: Usage | None = None
    unpaired: tuple[str, ...] = ()
    label: str | None = None
    used: int = 0

    def entry(self, identifier: str) -> Entry | None:
        """The entry with this id, here or in a sub-agent's record, or `None`."""
        prefix, dot, rest = identifier.rpartition(".")
        if dot:
            child = self.child(prefix)
            return child.entry_at(rest) if child else None
        return self.entry_at(identifier)

    def child(self, name: str) -> Record | None:
        """The record of the sub-agent called `s1`, `s2`, …, or `None`."""
        number = name[1:]
        if name[:1] != "s" or not number.isascii() or not number.isdigit() or not 0 < int(number) <= len(self.children):
            return None
        return self.children[int(number) - 1]

    def entry_at(self, name: str) -> Entry | None:
        """The entry of this very record called `e1`, `e2`, …, or `None`."""
        number = name[1:]
        if name[:1] != "e" or not number.isascii() or not number.isdigit() or len(number) > 12:
            return None
        return self.entries[int(number) - 1] if 0 < int(number) <= len(self.entries) else None

    def walk(self) -> Iterator[Entry]:
        """Every entry, the sub-agents' after this record's own."""
        yield from self.entries
        for child in self.children:
            yield from child.walk()

    def usage(self) -> Usage:
        """What the turns of this record consumed together, sub-agents left out."""
        used = [turn.usage for turn in self.turns if turn.usage]
        return Usage(*(_total(list(map(attrgetter(name), used))) for name in Usage.__struct_fields__))

    def consumed(self) -> Usage:
        """What the run consumed: what its turns and its sub-agents' add up to, else the harness's own totals.

        The cost is the other way round: what the harness states comes first.
        """
        added, stated = self.whole_usage(), self.reported or Usage()
        known = {name: value for name, value in msgspec.structs.asdict(stated).items() if value is not None}
        filled = {name: known[name] for name in known if name == "cost" or getattr(added, name) is None}
        return msgspec.structs.replace(added, **filled)

    def whole_usage(self) -> Usage:
        """What the turns of this record and of its sub-agents' consumed together."""
        return sum((child.whole_usage() for child in self.children), self.usage())
