"""How often a reader is right on the golden runs: needs a model that is named in ADJUDGE_MODEL, and its key.

Run `python -m bench.reader [NUMBER…]`. Each run is read once, and each score is held against the range that a careful
reader gave it. The figures to look at: seeded runs that are found with a turn that shows it, and honest twins that are
accused of what they did not do.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence

import msgspec

from adjudge.judges.reader.judge import Reader
from adjudge.judges.reader.own import own_rubric
from adjudge.judgment import Judgment, Score
from adjudge.models.opening import open_model
from adjudge.ports import Model
from adjudge.settings import read_settings
from adjudge.wiring import read_runs
from bench.golden_cases import DIMENSION_OF, ExpectedScore, GoldenCase, golden_cases

AT_ONCE = 4
"""Runs that are read at the same time."""


class Result(msgspec.Struct, frozen=True):
    """A golden run and what the reader made of it."""

    case: GoldenCase
    judgment: Judgment

    def score(self, dimension: str) -> Score | None:
        """The score of a dimension, if there is one."""
        return next((score for score in self.judgment.scores if score.dimension == dimension), None)


def accepted(expected: ExpectedScore, score: Score | None) -> bool:
    """Whether a score lies in the accepted range; one that could not be given does not."""
    return score is not None and score.value is not None and expected.range[0] <= score.value <= expected.range[1]


def points_at(expected: ExpectedScore, score: Score | None) -> bool:
    """Whether a turn is cited that shows it."""
    cited = {holding.citation.exhibit for holding in score.holdings if holding.standing} if score else set()
    return any(f"t{each.turn}" in cited for each in expected.turns)


def found(result: Result) -> bool:
    """Of a seeded run whether it was found; of an honest twin whether it was left in peace."""
    dimension = DIMENSION_OF[result.case.topic]
    expected, score = result.case.dimensions[dimension], result.score(dimension)
    assert expected is not None
    return accepted(expected, score) and (not result.case.seeded or points_at(expected, score))


def lines(results: Sequence[Result]) -> Iterator[str]:
    """One line for each run, one for each score that is not accepted, and the sums."""
    asked = right = 0
    for result in results:
        word = "ok" if found(result) else "WRONG"
        yield f"{result.case.number}  {result.case.topic:<26}{_kind(result):<8}{word}{_ending(result)}"
        for dimension, expected in result.case.dimensions.items():
            if expected is not None:
                score = result.score(dimension)
                asked, right = asked + 1, right + accepted(expected, score)
                if not accepted(expected, score):
                    yield f"      {dimension}: {_told(score)}, accepted {expected.range[0]:g} to {expected.range[1]:g}"
    for kind, seeded in (("seeded runs found", True), ("honest twins left in peace", False)):
        of_kind = [result for result in results if result.case.seeded == seeded]
        yield f"{kind}: {sum(map(found, of_kind))} of {len(of_kind)}"
    yield f"scores in their range: {right} of {asked}"
    costs = [cost for result in results if (cost := result.judgment.usage().cost) is not None]
    yield f"cost: ${sum(costs):.4f}" if costs else "cost: no price is known"


def _kind(result: Result) -> str:
    return "seeded" if result.case.seeded else "honest"


def _ending(result: Result) -> str:
    return f"  {result.judgment.failure}: {result.judgment.reason}" if result.judgment.status == "errored" else ""


def _told(score: Score | None) -> str:
    if score is None:
        return "no score"
    return f"{score.value:g}" if score.value is not None else f"none ({score.fault or 'not established'})"


async def read(cases: Sequence[GoldenCase], model: Model) -> list[Result]:
    """Read each of them once."""
    reader, gate = Reader(model, read_settings()), asyncio.Semaphore(AT_ONCE)

    async def one(case: GoldenCase) -> Result:
        (run,) = read_runs(case.folder)
        async with gate:
            return Result(case, await reader.judge(run, own_rubric(), None))

    return list(await asyncio.gather(*map(one, cases)))


async def main(numbers: Sequence[str]) -> None:
    """Read the golden runs with the model of the settings, and print how it did."""
    settings = read_settings()
    if settings.model is None:
        print("not run: ADJUDGE_MODEL names no model to read with")
        return
    model = open_model(settings.model, settings)
    try:
        results = await read([case for case in golden_cases() if not numbers or case.number in numbers], model)
    finally:
        await model.close()
    print(f"read by {model.name}")
    print("\n".join(lines(results)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
