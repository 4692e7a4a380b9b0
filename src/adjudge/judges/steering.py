"""Attempts to steer a judge: those that code found in what was read, and those that the model told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjudge import untrusted
from adjudge.evidence import Holding, fold
from adjudge.judges.strict import bounded
from adjudge.judgment import Steering
from adjudge.record import Entry
from adjudge.run import Run

MOST = 50
"""Attempts that a judgment lists."""
LONGEST_EXCERPT = 300
LONGEST_NAME = 300


def attempts(found: Iterable[Steering], told: Iterable[Steering]) -> tuple[Steering, ...]:
    """Every attempt once, those found by code first."""
    by_code = list({(one.exhibit, one.sign): one for one in found}.values())
    by_model = {(one.exhibit, one.excerpt): one for one in told}
    new = [one for one in by_model.values() if not any(_same(one, other) for other in by_code)]
    return (*by_code, *new)[:MOST]


def _same(told: Steering, found: Steering) -> bool:
    """Whether the model tells of what code found, in more words or fewer."""
    words, others = fold(told.excerpt), fold(found.excerpt.replace("⏎", " ")).strip("…")
    return told.exhibit == found.exhibit and (words in others or others in words)


def told_by_model(excerpt: str, holding: Holding) -> Iterator[Steering]:
    """What the model tells of, if it really stands where it says."""
    if holding.standing:
        yield Steering(
            holding.source or holding.citation.exhibit, "told", bounded(untrusted.shown(excerpt), LONGEST_EXCERPT), "model"
        )


def in_statements(run: Run) -> Iterator[Steering]:
    """Signs in what is told of a run before its record."""
    texts = {"task": run.task or "", "context": run.context or "", "agent": names(run)}
    known = untrusted.ordinary_each([*texts.values()])
    for (place, text), ordinary in zip(texts.items(), known, strict=True):
        yield from in_text(place, text, ordinary=ordinary)


def in_text(exhibit: str, text: str, entry: Entry | None = None, ordinary: bool = False) -> Iterator[Steering]:
    """Signs in a text, which may be known to be ordinary; a message of the agent's is judged apart from what it found."""
    said = entry is not None and entry.writer == "agent" and entry.kind == "message"
    yield from (Steering(exhibit, sign.name, sign.excerpt) for sign in untrusted.steering(text, said, ordinary))


def names(run: Run) -> str:
    """What a recording says of the agent, in bounded lines."""
    stated = {"agent": run.agent, "version": run.agent_version, "model": run.model, "ending": run.outcome.detail}
    return "\n".join(f"{what}: {' '.join(text[:LONGEST_NAME].split())}" for what, text in stated.items() if text)
