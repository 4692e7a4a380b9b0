"""Making looks: every use of a tool gets an id, is kept, and is shown to the model in its envelope."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from adjudge.asking import prompt
from adjudge.asking.across import search_runs
from adjudge.asking.endings import list_endings
from adjudge.asking.figure_looks import compare, pass_results
from adjudge.asking.judgment_looks import list_judgments, list_passes, list_rubrics, read_judgment
from adjudge.asking.lines import PAGE, look
from adjudge.asking.record_looks import outline, read_entries, search_one
from adjudge.asking.run_looks import list_runs, read_run, tally_runs
from adjudge.asking.seen import Seen
from adjudge.asking.source import Source
from adjudge.asking.tools import (
    NAMES,
    TOOLS,
    Arguments,
    CompareAgents,
    CountRuns,
    FindVerdicts,
    ListEndings,
    ListJudgments,
    ListPasses,
    ListRubrics,
    ListRuns,
    Outline,
    PassResults,
    ReadEntries,
    ReadJudgment,
    ReadRun,
    SearchRecord,
    SearchRuns,
)
from adjudge.asking.values import Look
from adjudge.asking.verdict_looks import find_verdicts
from adjudge.errors import InputError, OutsideError
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.looking import asked_of
from adjudge.judges.strict import bounded
from adjudge.ports import ToolCall
from adjudge.untrusted import shown

LONGEST_REASON = 600
MOST_SHOWN = 3 * PAGE
"""Characters of a look that reach the model: a page, and what making characters visible may add to it."""

MAKERS: Mapping[type[Arguments], Callable[[Source, Any], Look]] = {
    ListRuns: list_runs,
    CountRuns: tally_runs,
    ListEndings: list_endings,
    ReadRun: read_run,
    Outline: outline,
    ReadEntries: read_entries,
    SearchRecord: search_one,
    SearchRuns: search_runs,
    ListRubrics: list_rubrics,
    ListJudgments: list_judgments,
    FindVerdicts: find_verdicts,
    ReadJudgment: read_judgment,
    ListPasses: list_passes,
    PassResults: pass_results,
    CompareAgents: compare,
}


class Looker:
    """Looks into a store, and keeps what was seen."""

    def __init__(self, source: Source, seen: Seen) -> None:
        self._source, self._seen = source, seen
        self._made = 0

    def asked(self, call: ToolCall) -> Arguments:
        """What a call asks for. Raises JudgingError as `asked_of` does."""
        return asked_of(call, TOOLS, prompt.ANSWER, prompt)

    async def look(self, asked: Sequence[Arguments]) -> list[Look]:
        """Look at all that is asked for, each in a thread of its own. The looks may be cited from then on."""
        numbered = [(f"L{self._made + position}", each) for position, each in enumerate(asked, 1)]
        self._made += len(numbered)
        made = await asyncio.gather(*(asyncio.to_thread(self._timed, name, each) for name, each in numbered))
        for each in made:
            self._seen.add(each)
        return made

    def _timed(self, identifier: str, asked: Arguments) -> Look:
        started = time.monotonic()
        made = self._look(asked)
        return msgspec.structs.replace(
            made,
            id=identifier,
            tool=NAMES[type(asked)],
            arguments={name: value for name, value in msgspec.structs.asdict(asked).items() if value not in (None, ())},
            seconds=round(time.monotonic() - started, 3),
        )

    def _look(self, asked: Arguments) -> Look:
        """The look; one that brought nothing counts all the same, and the reason may name what others have named."""
        try:
            return MAKERS[type(asked)](self._source, asked)
        except (InputError, OutsideError) as error:
            reason = bounded(shown(str(error), self._source.mask), LONGEST_REASON)
            return msgspec.structs.replace(look(["failed: it shows nothing"], reason), failed=True)


def shown_look(made: Look, envelope: Envelope) -> str:
    """A look as the model gets it: adjudge's own lines, then what was found between the envelope's."""
    return "\n".join([made.id, *made.facts, *([envelope.around(made.text, MOST_SHOWN)] if made.text else [])])
