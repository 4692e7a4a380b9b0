"""A look at one criterion or dimension over all runs that were judged by it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from adjudge.asking.judgment_looks import score_word, verdict_word
from adjudge.asking.lines import LONGEST_WORDS, Line, joined, look, part, theirs
from adjudge.asking.run_looks import meant, named
from adjudge.asking.source import Source, asked_for
from adjudge.asking.tools import FindVerdicts
from adjudge.asking.values import Look
from adjudge.errors import InputError
from adjudge.judgment import Score, Verdict
from adjudge.passes.results import outcome_of
from adjudge.store.found import RunFilter
from adjudge.store.judged import JudgedRun, Scope, latest_of_each_run

MOST_LISTED = 2_000


class _Tally:
    """What was found so far, of one judgment after the other."""

    def __init__(self, asked: FindVerdicts) -> None:
        self._asked, self._runs = asked, meant(asked)
        self.lines: list[Line] = []
        self.judged = self.found = self.silent = 0
        self.whole = True

    def count(self, judged: JudgedRun) -> None:
        if not _is_meant(judged, self._runs):
            return
        self.judged += 1
        item = _item(judged, self._asked.item)
        if item is None:
            self.silent += 1
        elif _is_so(item, self._asked):
            self.found += 1
            if len(self.lines) < MOST_LISTED:
                self.lines.append(_line(judged, item, self._asked.item))


def find_verdicts(source: Source, asked: FindVerdicts) -> Look:
    """The verdicts or scores on one item that are as asked for; of each run its latest judgment counts."""
    tally, over = _Tally(asked), source.patience()
    for judged in latest_of_each_run(source.store, _scope(source, asked)):
        if over():
            tally.whole = False
            break
        tally.count(judged)
    if not tally.judged:
        raise InputError("no judgment is like that; list_rubrics and list_passes name what there is")
    if tally.silent == tally.judged:
        raise InputError("no judgment says anything of this item; list_rubrics names the items of a rubric")
    facts = tuple(_facts(tally, asked))
    if not tally.found:
        return look(("found: 0" if tally.whole else "found so far: 0", *facts), found=0 if tally.whole else None)
    made = part(tally.lines, asked.offset, "found", *facts)
    number = f"{'found' if tally.whole else 'found so far'}: {tally.found}"
    return msgspec.structs.replace(made, facts=(number, *made.facts[1:]), found=tally.found)


def _scope(source: Source, asked: FindVerdicts) -> Scope:
    if (asked.rubric is None) == (asked.in_pass is None):
        raise InputError("give rubric or in_pass, one of them")
    if asked.rubric is not None:
        return Scope(rubric=source.rubric(asked.rubric))
    return Scope(passes=(source.store.passes.find(asked.in_pass or ""),))


def _facts(tally: _Tally, asked: FindVerdicts) -> Iterator[str]:
    yield f"judgments: {tally.judged}, the latest of each run"
    if tally.silent:
        yield f"judgments that say nothing of it: {tally.silent}"
    yield asked_for(meant(asked))
    if not tally.whole:
        yield "stopped: the time for one look was over, so the other judgments are not established"


def _is_meant(judged: JudgedRun, wanted: RunFilter) -> bool:
    run = judged.run
    pairs = ((wanted.agent, run.agent), (wanted.model, run.model))
    if any(words is not None and words.lower() not in (name or "").lower() for words, name in pairs):
        return False
    tasks = f"{run.task_name or ''}\n{run.task or ''}".lower()
    if wanted.task is not None and wanted.task.lower() not in tasks:
        return False
    return wanted.outcome in (None, outcome_of(run.outcome))


def _item(judged: JudgedRun, name: str) -> Verdict | Score | None:
    judgment = judged.judgment
    verdict = next((each for each in judgment.verdicts if each.criterion == name), None)
    return verdict or next((each for each in judgment.scores if each.dimension == name), None)


def _is_so(item: Verdict | Score, asked: FindVerdicts) -> bool:
    if isinstance(item, Verdict):
        return asked.least is None and asked.found in (None, "pass" if item.passed else "fail")
    if asked.least is not None and (item.value is None or item.value < asked.least):
        return False
    none = item.value is None and not item.worse
    return asked.found in (None, "no value" if none else "worse" if item.worse else "not worse")


def _line(judged: JudgedRun, item: Verdict | Score, name: str) -> Line:
    judgment, run = judged.judgment, judged.run
    word, why = (verdict_word(item), item.note) if isinstance(item, Verdict) else (score_word(item), item.reasoning)
    line = joined(
        judgment.id, f"item {theirs(name)}", word, f"of {run.id}", named(run), f"because {theirs(why, LONGEST_WORDS)}"
    )
    return (f"{judgment.id}/{name}", run.id), line
