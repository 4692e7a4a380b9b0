"""What is shown of passes, and of the dimensions of readers, counted by hand."""

from __future__ import annotations

import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, a_run, add_pass, evaluated, read

from adjudge.judgment import Score
from adjudge.store.store import Store

from .test_looks import line_with, see

RUNS = [a_run(1), a_run(2), a_run(3, "gemini"), a_run(4, "gemini"), a_run(5)]
LOOPED = Score("loop", 2.0, "It went around.", worse=True)
BLAMELESS = Score("loop", 0.0, "It did not.")
NO_VALUE = Score("loop", None, "It accused.", fault="evidence_missing")
STAYED = Score("gave_up_early", 0.0, "It went on.")


@pytest.fixture
def evaluations(empty: Store) -> str:
    """A pass over five runs: three judged, one without an answer, one not judged yet."""
    judgments = [
        evaluated(RUNS[0], True, True),
        evaluated(RUNS[1], False, True),
        evaluated(RUNS[2], True, True),
        evaluated(RUNS[3]),
    ]
    return add_pass(empty, FILES, EVALUATOR, RUNS, judgments)


@pytest.fixture
def readings(empty: Store) -> str:
    """A pass over three runs: one looped, one did not, of one it is not known."""
    judgments = [read(run, loop, STAYED) for run, loop in zip(RUNS, (LOOPED, BLAMELESS, NO_VALUE), strict=False)]
    return add_pass(empty, CONDUCT, READER, RUNS[:3], judgments)


async def test_passes_are_listed(empty: Store, evaluations: str) -> None:
    look = await see(empty, "list_passes")
    assert look.facts == ("passes: 1",)
    assert f"{evaluations} · finished · rubric “files”" in look.text
    assert "5 selected · 4 landed · 1 without an answer · 0 empty" in look.text


async def test_what_a_pass_came_to_is_counted_for_the_whole_and_for_parts(empty: Store, evaluations: str) -> None:
    look = await see(empty, "pass_results", of_pass=evaluations, by=["harness"])
    assert "1 run not judged yet, which says nothing good of them" in look.text
    assert "2 of 3 passed · share that passed 0.67" in line_with(look, "all · criterion “tests”")
    assert "1 of 2 passed" in line_with(look, "harness “codex” · criterion “tests”")
    assert "1 of 1 passed" in line_with(look, "harness “gemini” · criterion “tests”")
    assert "fails by cause: 1 agent" in line_with(look, "harness “codex” · criterion “tests”")


async def test_verdicts_and_judgments_of_one_pass_are_found(empty: Store, evaluations: str) -> None:
    verdicts = await see(empty, "find_verdicts", in_pass=evaluations, item="tests", found="fail")
    assert verdicts.facts[0] == "found: 1"
    assert "judgments that say nothing of it: 1" in verdicts.facts
    judgments = await see(empty, "list_judgments", in_pass=evaluations, status="errored")
    assert (judgments.facts[0], RUNS[3].id in judgments.shows) == ("judgments: 1", True)


@pytest.mark.parametrize(
    ("asked", "run"),
    [({"found": "worse"}, 0), ({"found": "not worse"}, 1), ({"found": "no value"}, 2), ({"least": 1.5}, 0)],
)
async def test_scores_are_found_by_what_they_say(empty: Store, readings: str, asked: dict[str, object], run: int) -> None:
    look = await see(empty, "find_verdicts", in_pass=readings, item="loop", **asked)
    assert (look.facts[0], RUNS[run].id in look.shows) == ("found: 1", True)


async def test_dimensions_are_counted_as_worse_or_without_a_value(empty: Store, readings: str) -> None:
    look = await see(empty, "pass_results", of_pass=readings)
    assert "1 of 2 worse than blameless" in line_with(look, "dimension “loop”")
    assert "1 without a value" in line_with(look, "dimension “loop”")


async def test_a_score_is_read_and_may_be_cited_by_its_dimension(empty: Store, readings: str) -> None:
    judgment = next(row.id for row in empty.judgments(RUNS[0].id))
    look = await see(empty, "read_judgment", judgment=judgment)
    assert look.shows[f"{judgment}/loop"].startswith("dimension “loop” · value 2 · worse than blameless")


async def test_a_rubric_of_dimensions_is_opened_with_its_scales(empty: Store, readings: str) -> None:
    listed = await see(empty, "list_rubrics", rubric="conduct")
    assert "dimension “loop” · from 0 to 3, blameless is 0" in line_with(listed, "loop")
