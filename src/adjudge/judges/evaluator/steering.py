"""Attempts to steer the evaluator: found by code in what was read, and told by the model where its words hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjudge import untrusted
from adjudge.evidence import Citation, Exhibits, Look, fold
from adjudge.judges.evaluator.answers import Decision
from adjudge.judges.evaluator.looks import texts_read
from adjudge.judges.evaluator.opening import names
from adjudge.judges.strict import bounded
from adjudge.judgment import Steering
from adjudge.run import Run

MOST = 50
"""Attempts that a judgment lists."""
LONGEST_EXCERPT = 300


def attempts(run: Run, looks: Iterable[Look], decision: Decision | None, exhibits: Exhibits) -> tuple[Steering, ...]:
    """Every attempt once, those found by code first."""
    found = list({(one.exhibit, one.sign): one for one in _found(run, looks)}.values())
    told = {(one.exhibit, one.excerpt): one for one in _told(decision, exhibits)}
    new = [one for one in told.values() if not any(_same(one, other) for other in found)]
    return (*found, *new)[:MOST]


def _same(told: Steering, found: Steering) -> bool:
    """Whether the model tells of what code found, in more words or fewer."""
    words, others = fold(told.excerpt), fold(found.excerpt.replace("⏎", " ")).strip("…")
    return told.exhibit == found.exhibit and (words in others or others in words)


def _found(run: Run, looks: Iterable[Look]) -> Iterator[Steering]:
    stated = {"task": run.task or "", "context": run.context or "", "agent": names(run)}
    for exhibit, text in stated.items():
        yield from (Steering(exhibit, sign.name, sign.excerpt) for sign in untrusted.steering(text))
    read: set[tuple[str, str]] = set()
    for look in looks:
        for exhibit, text in texts_read(look, run.record):
            if (exhibit, text) not in read:
                read.add((exhibit, text))
                entry = run.record.entry(exhibit)
                said = entry is not None and entry.writer == "agent" and entry.kind == "message"
                yield from (Steering(exhibit, sign.name, sign.excerpt) for sign in untrusted.steering(text, said))


def _told(decision: Decision | None, exhibits: Exhibits) -> Iterator[Steering]:
    """What the model tells of; only what really stands in the exhibit it names."""
    for told in decision.steering if decision else ():
        holding = exhibits.check(Citation(told.exhibit, told.excerpt))
        if holding.standing:
            excerpt = bounded(untrusted.shown(told.excerpt), LONGEST_EXCERPT)
            yield Steering(holding.source or told.exhibit, "told", excerpt, "model")
