"""Attempts to steer the evaluator: found by code in what was read, and told by the model where its words hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.judges import steering
from adjudge.judges.evaluator.answers import Decision
from adjudge.judges.evaluator.looks import texts_read
from adjudge.judgment import Steering
from adjudge.run import Run


def attempts(run: Run, looks: Iterable[Look], decision: Decision | None, exhibits: Exhibits) -> tuple[Steering, ...]:
    """Every attempt once, those found by code first."""
    return steering.attempts(_found(run, looks), _told(decision, exhibits))


def _found(run: Run, looks: Iterable[Look]) -> Iterator[Steering]:
    yield from steering.in_statements(run)
    read: set[tuple[str, str]] = set()
    for look in looks:
        for exhibit, text in texts_read(look, run.record):
            if (exhibit, text) not in read:
                read.add((exhibit, text))
                yield from steering.in_text(exhibit, text, run.record.entry(exhibit))


def _told(decision: Decision | None, exhibits: Exhibits) -> Iterator[Steering]:
    """What the model tells of; only what really stands in the exhibit it names."""
    for told in decision.steering if decision else ():
        yield from steering.told_by_model(told.excerpt, exhibits.check(Citation(told.exhibit, told.excerpt)))
