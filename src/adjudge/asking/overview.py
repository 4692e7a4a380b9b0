"""The look with which every asking begins: how much the store holds, and of whom."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adjudge.asking.judgment_looks import pass_line
from adjudge.asking.lines import Line, counted, gathered, joined, look, theirs
from adjudge.asking.source import Source
from adjudge.asking.values import Look
from adjudge.store.found import RunFilter, Totals, count_runs
from adjudge.store.judged import rubrics_of

MOST = 12
"""Groups, rubrics and passes that are named."""


def overview(source: Source, held: Totals) -> Look:
    """How many runs, judgments, passes and rubrics there are, and the largest groups of runs."""
    lines: list[Line] = [((), line) for line in _lines(source)]
    _, text, shows = gathered(lines)
    facts = (f"{name}: {number}" for name, number in msgspec.structs.asdict(held).items())
    return msgspec.structs.replace(look(facts, text, shows, found=held.runs), id="L0", tool="overview")


def _lines(source: Source) -> Iterator[str]:
    groups = count_runs(source.store, RunFilter(), ("agent", "model"))
    for group in groups[:MOST]:
        agent, model = group.key
        yield joined(f"agent {theirs(agent)}", f"model {theirs(model)}", counted(group.runs, "run"))
    if len(groups) > MOST:
        yield f"and {len(groups) - MOST} other agents with their models"
    rubrics = rubrics_of(source.store)
    yield from (f"rubric {theirs(name)} · hash {hash[:12]}" for hash, name in rubrics[:MOST])
    if len(rubrics) > MOST:
        yield f"and {len(rubrics) - MOST} other rubrics"
    yield from (pass_line(row) for row in source.store.passes.rows()[:MOST])
