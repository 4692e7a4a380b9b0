"""A store in which hostile words stand wherever something of others can: runs, judgments, reviews, a pass, jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import msgspec
from tests.web import sample_passes
from tests.web.sample_asking import an_asking, kept_asking

from adjudge.asking.values import Asking, Cited, Holding, Look, Statement, Untold
from adjudge.evidence import Citation, Exhibits
from adjudge.evidence import Look as JudgesLook
from adjudge.exports.judged import Judged
from adjudge.judgment import (
    Answer,
    CauseAnswer,
    DimensionAnswer,
    Judge,
    Judgment,
    Steering,
    Step,
    gate,
    gate_scores,
    score,
)
from adjudge.reviews.values import Said
from adjudge.rubric import SEVERITY, Criterion, Dimension, Rubric, hash_of_dimensions, rubric_hash
from adjudge.run import Outcome, Run
from adjudge.store.pass_rows import PassItem
from adjudge.store.passes import PassWriter
from adjudge.store.reviews import add_review
from adjudge.store.store import Store
from adjudge.testing import calls, make_record, make_run, says, user
from adjudge.web.guard import Guard
from adjudge.web.jobs import Jobs, Kind, Tell

LONGEST = 4_000
"""Characters of one payload in fields that a page shows without a fold; the whole stands in the record."""
RUN, OTHER, FAILED, FRESH = (f"r-00000000000000{end}" for end in ("c0", "c1", "c2", "c3"))
EVALUATION, READING = "j-00000000000000c0", "j-00000000000000c1"


def a_run(planted: list[str], everything: str) -> Run:
    """A run in which it stands in messages, tools' names, arguments and outputs, the patch, names and notes."""
    record = make_record(
        user(everything),
        *(says(each) for each in planted),
        *(
            calls(each[:80], {"command": each[:LONGEST], "path": each[:200]}, result=each, exit_status=1)
            for each in planted
        ),
        *(
            calls("Edit", {"file_path": p[:200], "old_string": p[:LONGEST], "new_string": p[:90]}, result=p)
            for p in planted
        ),
    )
    patch = "".join(
        f"diff --git a/{p[:90]} b/{p[:90]}\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{p[:90]}\n+{p[:90]}\n" for p in planted
    )
    run = make_run(
        record,
        task=everything,
        agent=planted[0][:200],
        model=planted[1][:200],
        task_name=next(each for each in planted if "<svg" in each),
        patch=patch,
        context=everything,
        notes=tuple(planted),
        source=everything[:LONGEST],
        outcome=Outcome(1, "unresolved", detail=everything[:LONGEST], grading=everything[:LONGEST]),
    )
    return msgspec.structs.replace(run, id=RUN)


def cited(at: int, planted: str) -> tuple[Citation, ...]:
    return (Citation(f"L{at}", planted[:300]), Citation(planted[:90], planted[:300]))


def judged(run: Run, planted: list[str], everything: str) -> tuple[Judged, Judged]:
    """An evaluation and a reading in which it stands in criteria, dimensions, notes, quotes, looks and steps."""
    criteria = tuple(Criterion(f"c{at}", f"It prints {each[:LONGEST]}") for at, each in enumerate(planted, 1))
    rubric = Rubric(planted[2][:200], criteria, rubric_hash(criteria), "x.yaml")
    looks = tuple(
        JudgesLook(f"L{at}", each[:80], "command", {"command": each[:LONGEST]}, each, (each[:LONGEST],), exit_status=0)
        for at, each in enumerate(planted, 1)
    )
    said = tuple(
        Answer(f"c{at}", at % 2 == 0, each[:LONGEST], cited(at, each), None if at % 2 == 0 else "agent")
        for at, each in enumerate(planted, 1)
    )  # fmt: skip
    verdicts, _ = gate(rubric, said, Exhibits(run.record, looks))
    steps = tuple(
        Step(each, each, each, (each[:80],), (f"L{at}",), (each[:LONGEST],)) for at, each in enumerate(planted, 1)
    )
    evaluation = Judgment(
        EVALUATION, run.id, rubric.name, rubric.hash, Judge("evaluator", planted[3][:90], "p", {"looks": 99}, "0"),
        "judged", "2026-11-30T10:00:00+00:00", 1.0, verdicts, score(verdicts), everything,
        (Steering("e2", planted[4][:90], planted[4][:LONGEST]),), looks=looks, steps=steps, warnings=tuple(planted),
        machine={each[:90]: each[:LONGEST] for each in planted},
    )  # fmt: skip
    dimensions = tuple(
        Dimension(f"d{at}", SEVERITY, 0, "higher", each[:LONGEST], each[:LONGEST], (each[:LONGEST],), (each[:90],))
        for at, each in enumerate(planted, 1)
    )
    conduct = Rubric(planted[5][:90], (), hash_of_dimensions(dimensions, "1"), "x.yaml", dimensions, "1")
    answers = tuple(
        DimensionAnswer(
            f"d{at}", 2, each[:LONGEST], (Citation("t1", each[:300]),), 0.2, (CauseAnswer(each[:90], 0.2, each[:LONGEST]),)
        )
        for at, each in enumerate(planted, 1)
    )
    reading = Judgment(
        READING, run.id, conduct.name, conduct.hash, Judge("reader", planted[3][:90], "p", {}, "0"),
        "judged", "2026-11-30T10:00:00+00:00", 1.0, scores=gate_scores(conduct, answers, Exhibits(run.record)),
        summary=everything, steps=(Step("", everything, everything),), decided="schema",
    )  # fmt: skip
    return Judged(evaluation, run, rubric), Judged(reading, run, conduct)


def asked_of(run: Run, planted: list[str]) -> Asking:
    """An asking whose question, statements, looks and steps are made of it."""
    looks = tuple(
        Look(f"L{at}", "search_runs", "record", {"pattern": p[:200]}, (p[:LONGEST],), p) for at, p in enumerate(planted, 1)
    )
    statements = tuple(
        Statement(
            p[:LONGEST], (Holding(Cited(f"{run.id}/{p[:90]}", p[:300])), Holding(Cited(p[:90], p[:300]), fault=p[:300]))
        )
        for p in planted
    )
    wrong = tuple(Statement(p[:LONGEST], (), p[:LONGEST]) for p in planted)
    return an_asking(
        question="".join(planted)[:LONGEST], statements=statements, unsupported=wrong, looks=looks,
        untold=tuple(Untold(p[:LONGEST], ("L1",)) for p in planted), reason=planted[6][:LONGEST], model=planted[7][:90],
        steering=tuple(Steering(p[:90], p[:90], p[:LONGEST]) for p in planted),
    )  # fmt: skip


class UnderWay:
    """Lets a server remember an asking that was answered, and has it judge and ask as long as it is there."""

    def __init__(self, asking: Asking, planted: Sequence[str]) -> None:
        self._asking, self._planted = asking, planted
        self.answered = self.judging = self.asking = ""

    async def __call__(self, guard: Guard) -> None:
        self.answered = await kept_asking(guard, self._asking, "\n".join(self._planted))
        jobs: Jobs = guard.app.state.site.jobs

        async def begin() -> None:
            self.judging, self.asking = (self._begun(jobs, kind) for kind in ("judge", "ask"))

        guard.app.on_startup.append(begin)

    def _begun(self, jobs: Jobs, kind: Kind) -> str:
        async def work(tell: Tell) -> None:
            for each in self._planted:
                tell(each[:LONGEST], each)
            await asyncio.Event().wait()

        return jobs.start(kind, self._planted[0][:300], work).facts.id


class Planted(msgspec.Struct, frozen=True):
    """A store full of it, the judgments to export, what the server does, and the names of what there is, for addresses."""

    store: Store
    exported: tuple[Judged, Judged]
    under_way: UnderWay
    names: dict[str, str]


@contextmanager
def plant(store: Store, texts: list[str]) -> Iterator[Planted]:
    """Put everything in, and let a pass go on as long as this lasts.

    Two agents had one task and were judged by the same judges; one run has no verdict, one is not judged.
    """
    everything = "\n".join(text[:LONGEST] for text in texts)
    run = a_run(texts, everything)
    evaluation, reading = judged(run, texts, everything)
    other = msgspec.structs.replace(run, id=OTHER, agent=texts[1][:200], model=texts[2][:200])
    store.add_run(run)
    store.add_run(other)
    for judgment, rubric in ((evaluation.judgment, evaluation.rubric), (reading.judgment, reading.rubric)):
        assert rubric is not None
        store.add_judgment(judgment, rubric)
        store.add_judgment(msgspec.structs.replace(judgment, id=f"{judgment.id}b", run=OTHER), rubric)
    _not_judged(store, run, evaluation, everything)
    _review(store, texts, everything)
    rubrics = {"rubric": evaluation.rubric, "dimensions": reading.rubric}
    hashes = {name: rubric.hash for name, rubric in rubrics.items() if rubric}
    first, second = (quote(f"{each.agent}={each.model}", safe="") for each in (run, other))
    names = hashes | {
        "run": RUN,
        "failed": FAILED,
        "fresh": FRESH,
        "beside": OTHER,
        "besides": FAILED,
        "next": hashes["rubric"],
        "evaluation": EVALUATION,
        "reading": READING,
        "judgment": EVALUATION,
        "hash": hashes["rubric"],
        "exhibit": "e3",
        "entry": "e3",
        "item": "c1",
        "asked": "c1",
        "criterion": "c1",
        "dimension": "d1",
        "first": first,
        "second": second,
        "third": second,
        "agent": quote(texts[0][:200], safe=""),
        "word": quote(texts[0][:90], safe=""),
        "stratum": quote(f"{texts[0][:40]}/*", safe=""),
        "task": quote(run.task_name or "", safe=""),
    }
    writer = store.passes.hold("a test")
    try:
        stopped = _pass(writer, evaluation, texts)
        writer.end(stopped, "provider down", texts[0][:LONGEST])
        live = _pass(writer, evaluation, texts)
        names |= {"of_pass": stopped, "finished": stopped, "stopped": stopped, "live": live}
        yield Planted(store, (evaluation, reading), UnderWay(asked_of(run, texts), texts), names)
        writer.end(live, "stopped")
    finally:
        writer.release()


def _not_judged(store: Store, run: Run, evaluation: Judged, everything: str) -> None:
    for identifier in (FAILED, FRESH):
        store.add_run(msgspec.structs.replace(run, id=identifier))
    failed = msgspec.structs.replace(
        evaluation.judgment, id=f"{EVALUATION}f", run=FAILED, status="errored", failure="timeout",
        reason=everything[:LONGEST], verdicts=(), score=None, summary="",
    )  # fmt: skip
    store.add_judgment(failed, evaluation.rubric)


def _review(store: Store, texts: list[str], everything: str) -> None:
    for at, text in enumerate(texts[::6], 1):
        reviewer = f"<img src=x onerror=alert({at})>"
        add_review(store, Said(EVALUATION, "c1", reviewer, "seen", f"seen: {text[:9_000]}", approved=at % 2 == 0))
    add_review(store, Said(EVALUATION, "c1", "Bea", "seen", f"seen: {everything}"[:10_000], approved=True))


def _pass(writer: PassWriter, evaluation: Judged, texts: list[str]) -> str:
    """A pass over both agents' runs, with words of theirs in its strata; gives its id."""
    strata = [
        {"harness": each[:90], "outcome": each[:90], "candidates": 2, "unrecorded": 0, "judged": 0, "selected": 2}
        for each in texts
    ]
    told = sample_passes.kept(3, 0.2) | {"strata": strata}
    assert evaluation.rubric is not None
    identifier = writer.begin(evaluation.judgment.judge, told, evaluation.rubric, [RUN, OTHER])

    async def land() -> None:
        for at, run in enumerate((RUN, OTHER)):
            judgment = msgspec.structs.replace(evaluation.judgment, id=f"j-{identifier[2:]}{at}", run=run)
            await writer.land(identifier, PassItem(at, run, ""), judgment)

    asyncio.run(land())
    return identifier
