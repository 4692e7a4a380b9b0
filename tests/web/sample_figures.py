"""Three agents at twenty-four tasks, judged by an evaluator and a reader in a pass each, and reviewed: for figures."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from tests.conftest import RUBRIC as DIMENSIONS
from tests.conftest import a_record
from tests.passes.stored import add_pass
from tests.web import sample

from adjudge.evidence import Citation, Exhibits
from adjudge.judgment import (
    Answer,
    Call,
    DimensionAnswer,
    Judge,
    Judgment,
    Omitted,
    Prepared,
    Verdict,
    gate,
    gate_scores,
    score,
)
from adjudge.record import Usage
from adjudge.reviews.values import Said
from adjudge.run import Outcome, Run
from adjudge.store.reviews import add_review
from adjudge.store.store import Store

AGENTS = (("mini-swe-agent", "deepseek-chat", 0.45), ("claude-code", "large-model", 0.82), ("codex", "gpt-5-codex", 0.6))
TASKS = 24
SAW = Citation("e6", "3 failed, 10 passed in 0.41s")
EVALUATOR = Judge("evaluator", "openrouter/strong-model", "ab" * 32, {"looks": 40, "mask": True}, "0.1.0")
READER = Judge("reader", "openrouter/strong-model", "cd" * 32, {"prune": "pruned", "mask": True}, "0.1.0")


Cause = Literal["agent", "environment", "unproven"]


class Made(msgspec.Struct, frozen=True):
    """The passes and runs that were put into a store."""

    evaluation: str
    reading: str
    runs: tuple[Run, ...]


def fill(store: Store, tasks: int = TASKS) -> Made:
    """Put everything in. What is judged, and what reviewers say, is drawn with a seed."""
    runs = tuple(_run(number, task, side) for number, (task, side) in enumerate(_pairs(tasks)))
    chance = Random(5)
    evaluated = [_evaluated(run, AGENTS[at % 3][2], chance, at) for at, run in enumerate(runs)]
    read = [_read(run, AGENTS[at % 3][2], chance, at) for at, run in enumerate(runs[: len(runs) - 2])]
    evaluation = add_pass(store, sample.RUBRIC, EVALUATOR, runs, evaluated)
    strata = [{"harness": "codex", "outcome": "resolved", "candidates": 80, "unrecorded": 3, "judged": 0, "selected": 72}]
    reading = add_pass(store, DIMENSIONS, READER, runs, read, {"strata": strata})
    _review(store, evaluated, read, chance)
    return Made(evaluation, reading, runs)


def _pairs(tasks: int) -> list[tuple[int, int]]:
    return [(task, side) for task in range(tasks) for side in range(3)]


def _run(number: int, task: int, side: int) -> Run:
    agent, model, skill = AGENTS[side]
    resolved = (number * 7) % 10 < skill * 10
    return Run(
        f"r-f{number:015x}",
        a_record(),
        f"{number}.jsonl",
        "Make the tests of billing pass.",
        agent,
        "2.1.0",
        model,
        Outcome(0, "resolved" if resolved else "unresolved"),
        task_name=f"marshmallow-{1300 + task}",
        cost=None if number % 9 == 0 else 0.03 + 0.002 * task,
    )


def _evaluated(run: Run, skill: float, chance: Random, at: int) -> Judgment:
    calls = (Call("strong-model", Usage(prompt=9_000, output=900, cost=0.02), 3.0),)
    given = (f"j-e{at:015x}", run.id, sample.RUBRIC.name, sample.RUBRIC.hash, EVALUATOR)
    if at % 23 == 5:
        why = "No answer within 600 s (attempt 3)."
        return Judgment(*given, "errored", "2026-04-11T09:00:00+00:00", 12.0, reason=why, failure="timeout")
    answers = tuple(_answer(each.id, place, skill, chance) for place, each in enumerate(sample.CRITERIA) if not each.probe)
    given_verdicts, _ = gate(sample.RUBRIC, answers, Exhibits(run.record))
    suite = Verdict("suite", chance.random() < skill, "`python -m pytest -q` was run on the machine.", probe=True)
    by_name = {verdict.criterion: verdict for verdict in (*given_verdicts, suite)}
    verdicts = tuple(by_name[criterion.id] for criterion in sample.CRITERIA)
    return Judgment(
        *given, "judged", "2026-04-11T09:00:00+00:00", 12.0, verdicts, score(verdicts), decided="freely", calls=calls
    )


def _answer(criterion: str, place: int, skill: float, chance: Random) -> Answer:
    passed = chance.random() < (skill if place in (4, 5) else (skill + 0.9) / 2)
    words = "The output has three failures; `billing.py` was printed and nothing else."
    if passed:
        return Answer(criterion, True, words, (SAW,) if chance.random() < 0.95 else (Citation("e6", "13 passed in 0.2s"),))
    causes: tuple[Cause, ...] = ("agent", "agent", "agent", "environment", "unproven")
    cause = chance.choice(causes)
    return Answer(criterion, False, words, (SAW, Citation("e4", "return sum(orders)")), cause)


def _read(run: Run, skill: float, chance: Random, at: int) -> Judgment:
    calls = (Call("strong-model", Usage(prompt=30_000, output=1_700, cost=0.0312), 21.0),)
    given = (f"j-d{at:015x}", run.id, DIMENSIONS.name, DIMENSIONS.hash, READER)
    if at % 29 == 7:
        why = "The reply had no JSON."
        return Judgment(*given, "errored", "2026-04-11T09:00:00+00:00", 9.0, reason=why, failure="judge_parse_failed")
    answers = tuple(_scored(each.id, skill, chance) for each in DIMENSIONS.dimensions)
    prepared = Prepared("pruned", "pruned", "ab" * 32, 63_000, 41_200, 11_000, tool_output_pruned=Omitted(at % 3, 800))
    return Judgment(
        *given,
        "judged",
        "2026-04-11T09:30:00+00:00",
        21.0,
        scores=gate_scores(DIMENSIONS, answers, Exhibits(run.record)),
        decided="schema",
        calls=calls,
        prepared=prepared,
    )


def _scored(dimension: str, skill: float, chance: Random) -> DimensionAnswer:
    if dimension == "tool_efficiency":
        value: float = round(min(1.0, skill + chance.random() * 0.2), 2)
    else:
        value = 0 if chance.random() < skill else chance.choice((1, 1, 1, 2, 2, 3))
    turn = Citation("t2", "3 failed, 10 passed in 0.41s") if chance.random() < 0.93 else Citation("t9", "nothing")
    return DimensionAnswer(dimension, value, "It ran `pytest -q billing` and reported what it had not seen.", (turn,))


def _review(store: Store, evaluated: list[Judgment], read: list[Judgment], chance: Random) -> None:
    """Ada answers blind: three criteria of 24 runs, the others of five; two dimensions of 22; Bea sees some verdicts."""
    judged = [each for each in evaluated if each.verdicts]
    for at, judgment in enumerate(judged[:24]):
        for place, verdict in enumerate(judgment.verdicts):
            if place < 3 or at < 5:
                said = verdict.passed if chance.random() < 0.9 else not verdict.passed
                add_review(store, Said(judgment.id, verdict.criterion, "Ada", "blind", "e6 says so.", passed=said))
    for judgment in judged[30:33]:
        add_review(store, Said(judgment.id, "saves", "Bea", "seen", "e6 says so.", approved=chance.random() < 0.8))
    for at, judgment in enumerate([each for each in read if each.scores][:22]):
        for each in judgment.scores[1:5] if at < 4 else judgment.scores[1:3]:
            value = each.value if each.value is not None and chance.random() < 0.8 else 1.0
            add_review(store, Said(judgment.id, each.dimension, "Ada", "blind", "t2 says so.", value=value))


def make(folder: Path) -> Store:
    """The sample's store, with all of this in it too."""
    store = sample.make(folder)
    fill(store)
    return store
