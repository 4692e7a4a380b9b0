"""A store with a pass in it, built as the engine would: runs, then judgments that land one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from adjudge.evidence import Citation, Holding
from adjudge.importers.build import RecordBuilder
from adjudge.judgment import Call, Cause, Judge, Judgment, Omitted, Prepared, Score, Verdict
from adjudge.record import Usage
from adjudge.rubric import SEVERITY, Criterion, Dimension, Rubric, hash_of_dimensions, rubric_hash
from adjudge.run import Outcome, Run
from adjudge.store.pass_rows import PassItem
from adjudge.store.store import Store

CRITERIA = (Criterion("tests", "`make test` exits with 0"), Criterion("notes", "`NOTES.md` names the change"))
FILES = Rubric("files", CRITERIA, rubric_hash(CRITERIA), "files.yaml")
DIMENSIONS = (
    Dimension("loop", SEVERITY, 0, "higher", "It repeated itself."),
    Dimension("gave_up_early", SEVERITY, 0, "higher", "It stopped before the end."),
)
CONDUCT = Rubric("conduct", (), hash_of_dimensions(DIMENSIONS, "1"), "conduct.yaml", DIMENSIONS, "1")

EVALUATOR = Judge("evaluator", "openrouter/judge-a", "ab" * 32, {"looks": 40}, "0.1.0")
READER = Judge("reader", "openrouter/judge-a", "cd" * 32, {"prune": "pruned"}, "0.1.0")

SHOWN = Holding(Citation("e2", "3 passed"), "observed", None, "e2", "record")
NOT_SHOWN = Holding(Citation("e9", "4 passed"), None, "there is no e9")


def a_run(number: int, agent: str | None = "codex", **more: Any) -> Run:
    """A run with a record of two entries; `number` makes its id."""
    builder = RecordBuilder("chat")
    builder.message("user", "Mend it.")
    builder.respond(model="m")
    builder.message("agent", "It is mended.")
    given: dict[str, Any] = {"task": "Mend it.", "model": "m-1", "outcome": Outcome(0, "resolved"), **more}
    return Run(f"r-{number:016x}", builder.finish(), f"{number}.jsonl", agent=agent, **given)


def verdicts(passed: Sequence[bool], cause: Cause | None) -> tuple[Verdict, ...]:
    """Verdicts of both criteria of `FILES`."""
    given = ((criterion.id, each) for criterion, each in zip(CRITERIA, passed, strict=True))
    return tuple(Verdict(name, ok, "Seen.", (SHOWN, NOT_SHOWN), None if ok else cause) for name, ok in given)


def evaluated(run: Run, *passed: bool, cost: float | None = 0.01, cause: Cause | None = "agent", **more: Any) -> Judgment:
    """A judgment of an evaluator, errored if it has no verdicts."""
    found = verdicts(passed, cause) if passed else ()
    given: dict[str, Any] = {
        "status": "judged" if passed else "errored",
        "verdicts": found,
        "score": sum(passed) / len(found) if found else None,
        "calls": (Call("judge-a", Usage(prompt=1000, cached=600, output=50, cost=cost), 2.0),),
        **more,
    }
    judge = given.pop("judge", EVALUATOR)
    return Judgment(
        _id(run, given, judge), run.id, FILES.name, FILES.hash, judge, started="2026-03-01", seconds=3.0, **given
    )


def read(run: Run, *scores: Score, cost: float | None = 0.002, **more: Any) -> Judgment:
    """A judgment of a reader, errored if it has no scores."""
    given: dict[str, Any] = {
        "status": "judged" if scores else "errored",
        "scores": scores,
        "calls": (Call("judge-a", Usage(prompt=5000, output=80, cost=cost), 2.0),),
        "prepared": Prepared("pruned", "pruned", "ef" * 32, 90_000, 30_000, 8_000),
        **more,
    }
    judge = given.pop("judge", READER)
    return Judgment(
        _id(run, given, judge), run.id, CONDUCT.name, CONDUCT.hash, judge, started="2026-03-01", seconds=4.0, **given
    )


def _id(run: Run, given: dict[str, Any], judge: Judge) -> str:
    """The id that is given, else one of its own for each run and judge."""
    return str(given.pop("id", f"j-{judge.hash[:4]}{run.id[-12:]}"))


def cut(pieces: int, characters: int) -> Prepared:
    """An input of which so many tool outputs were left out, and one entry."""
    omitted = {"tool_output_pruned": Omitted(pieces, characters), "events_elided": Omitted(1, 10)}
    return Prepared("pruned", "pruned", "ef" * 32, 90_000, 30_000, 8_000, **omitted)


def add_pass(
    store: Store,
    rubric: Rubric,
    judge: Judge,
    runs: Sequence[Run],
    judgments: Iterable[Judgment],
    plan: dict[str, Any] | None = None,
) -> str:
    """Start a pass over runs, land judgments of some of them, and end it. Gives its id."""
    for run in runs:
        store.add_run(run)
    writer = store.passes.hold("a test")
    try:
        identifier = writer.begin(judge, plan or {}, rubric, [run.id for run in runs])
        items = {run.id: PassItem(position, run.id, "") for position, run in enumerate(runs)}

        async def land() -> None:
            for judgment in judgments:
                await writer.land(identifier, items[judgment.run], judgment)

        asyncio.run(land())
        writer.end(identifier, "finished")
    finally:
        writer.release()
    return identifier
