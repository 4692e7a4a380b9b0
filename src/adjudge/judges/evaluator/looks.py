"""Making looks: every use of a tool gets an id, is kept as an exhibit, and is shown to the model in its envelope."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from adjudge.evidence import Exhibits, Look
from adjudge.judges.evaluator import prompt
from adjudge.judges.evaluator.machine_looks import look_at_machine
from adjudge.judges.evaluator.patch_looks import read_patch
from adjudge.judges.evaluator.record_looks import open_entry, outline
from adjudge.judges.evaluator.record_search import search_record
from adjudge.judges.evaluator.tools import (
    ON_MACHINE,
    ON_PATCH,
    ON_RECORD,
    Arguments,
    OpenEntry,
    Outline,
    ReadPatch,
    RunCommand,
    SearchRecord,
    look_tools,
)
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.looking import asked_of
from adjudge.ports import Machine, ToolCall
from adjudge.record import Record
from adjudge.run import Run


class Looker:
    """Looks at the record of one run and, where there are any, its patch and its machine."""

    def __init__(self, run: Run, machine: Machine | None, exhibits: Exhibits) -> None:
        self._record, self._patch, self._machine, self._exhibits = run.record, run.patch, machine, exhibits
        self._offered = {**ON_RECORD, **(ON_PATCH if run.patch else {}), **(ON_MACHINE if machine else {})}
        self.tools = look_tools(self._offered)

    def asked(self, call: ToolCall) -> Arguments:
        """What a call asks for. Raises JudgingError as `asked_of` does."""
        return asked_of(call, self._offered, prompt.DECIDE, prompt)

    async def look(self, asked: Sequence[Arguments]) -> list[Look]:
        """Look at all that is asked for: commands one after the other, everything else beside them.

        The looks are exhibits from then on.
        """
        first = len(self._exhibits.looks) + 1
        numbered = [(f"L{first + position}", item) for position, item in enumerate(asked)]
        commands = [item for item in numbered if isinstance(item[1], RunCommand)]
        others = [item for item in numbered if not isinstance(item[1], RunCommand)]
        reading = asyncio.gather(*(self._timed(*item) for item in others))
        ran, read = await asyncio.gather(self._one_by_one(commands), reading)
        looks = {look.id: look for look in [*ran, *read]}
        made = [self._marked(looks[identifier]) for identifier, _ in numbered]
        for look in made:
            self._exhibits.add(look)
        return made

    async def _one_by_one(self, commands: Iterable[tuple[str, Arguments]]) -> list[Look]:
        return [await self._timed(identifier, asked) for identifier, asked in commands]

    async def _timed(self, identifier: str, asked: Arguments) -> Look:
        started = time.monotonic()
        look = await self._look(identifier, asked)
        return msgspec.structs.replace(look, seconds=round(time.monotonic() - started, 3))

    async def _look(self, identifier: str, asked: Arguments) -> Look:
        match asked:
            case Outline():
                return await asyncio.to_thread(outline, identifier, self._record, asked)
            case SearchRecord():
                return await asyncio.to_thread(search_record, identifier, self._record, asked)
            case OpenEntry():
                return await asyncio.to_thread(open_entry, identifier, self._record, asked)
            case ReadPatch():
                return await asyncio.to_thread(read_patch, identifier, self._patch or "", asked)
        assert self._machine is not None
        return await look_at_machine(identifier, self._machine, asked)

    def _marked(self, look: Look) -> Look:
        """The look, marked as one after which, or after whose like, the machine may no longer be as it was left."""
        earlier = any(made.place == "command" for made in self._exhibits.looks.values())
        changed = look.place == "command" or (look.place == "files" and earlier)
        return msgspec.structs.replace(look, changed=changed)


def shown_look(look: Look, envelope: Envelope) -> str:
    """A look as the model gets it: adjudge's own lines, then what was found between the envelope's."""
    lines = [look.id, *look.facts]
    if look.text:
        both_ends = look.place == "command"
        lines.append(envelope.head_and_tail(look.text) if both_ends else envelope.around(look.text))
    return "\n".join(lines)


LONGEST_READ = 100_000
"""Characters of one exhibit that are searched for attempts to steer."""


def texts_read(look: Look, record: Record) -> Iterator[tuple[str, str]]:
    """What a look gave to read, by the exhibit in which it stands: the entries themselves for a look into the record."""
    if look.place != "record":
        yield look.id, look.text[:LONGEST_READ]
    elif look.tool == "outline":
        yield from zip(look.shows, look.text.split("\n"), strict=False)
    else:
        for name in look.shows:
            if entry := record.entry(name):
                yield name, entry.text[:LONGEST_READ]
