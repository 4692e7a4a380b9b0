"""A reader's judgments in the store: their rows, and what those teach about the size of tokens."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from tests.store.conftest import Place

from adjudge.evidence import Citation, Exhibits
from adjudge.exports.judged import Judged
from adjudge.judgment import Call, DimensionAnswer, gate_scores
from adjudge.record import Usage
from adjudge.store.checking import verify_stored
from adjudge.store.store import Store

MODEL = "openrouter/strong-model"


@pytest.fixture
def kept(place: Place, reading: Judged) -> Iterator[Store]:
    with place.open() as store:
        store.add_run(reading.run)
        store.add_judgment(reading.judgment, reading.rubric)
        yield store


def add(store: Store, reading: Judged, name: str, *calls: Call, model: str = MODEL, characters: int = 9_000) -> None:
    """Another judgment of the same run, with these calls for a request of that size."""
    assert reading.judgment.prepared is not None
    prepared = msgspec.structs.replace(reading.judgment.prepared, characters=characters)
    judge = msgspec.structs.replace(reading.judgment.judge, model=model)
    store.add_judgment(
        msgspec.structs.replace(reading.judgment, id=name, calls=calls, prepared=prepared, judge=judge), reading.rubric
    )


def test_a_readers_judgment_comes_back_as_it_was(kept: Store, reading: Judged) -> None:
    assert kept.judgment(reading.judgment.id) == reading.judgment
    assert kept.rubric(str(reading.judgment.rubric_hash)) == reading.rubric


def test_its_row_says_how_it_came_about(kept: Store) -> None:
    (row,) = kept.judgments()
    assert (row.judge, row.score, row.passed, row.criteria) == ("reader", None, 0, 0)
    assert (row.scored, row.dimensions, row.worse, row.empty) == (4, 8, 3, False)
    assert (row.decided, row.failure, row.prune) == ("schema", None, "pruned")
    assert (row.characters, row.prompt_tokens) == (9_000, 2_500)


def test_a_run_that_was_read_is_listed_as_judged_without_a_score(kept: Store) -> None:
    (row,) = kept.runs()
    assert (row.judgments, row.status, row.score, row.worse) == (1, "judged", None, 3)


def test_a_run_that_was_judged_by_criteria_has_nothing_of_a_reader(stored: Store) -> None:
    (row,) = stored.runs()
    assert (row.judgments > 0, row.worse, row.empty) == (True, None, None)


def test_a_row_without_an_answer_says_the_sort_of_its_reason(kept: Store, unread: Judged) -> None:
    kept.add_judgment(unread.judgment)
    row = kept.row(unread.judgment.id)
    assert (row.status, row.failure, row.scored, row.dimensions, row.decided) == ("errored", "timeout", 0, 0, None)
    assert (row.characters, row.prompt_tokens) == (9_000, None)


def test_an_answer_without_a_single_value_is_counted_as_empty(kept: Store, reading: Judged) -> None:
    assert reading.rubric is not None
    nothing = gate_scores(reading.rubric, [], Exhibits(reading.run.record))
    kept.add_judgment(msgspec.structs.replace(reading.judgment, id="j-empty", scores=nothing))
    row = kept.row("j-empty")
    assert (row.status, row.scored, row.dimensions, row.empty) == ("judged", 0, 8, True)


def test_an_evaluators_row_has_nothing_of_a_reader(stored: Store) -> None:
    (row,) = stored.judgments()
    assert (row.scored, row.dimensions, row.empty, row.decided) == (0, 0, False, "freely")
    assert (row.prune, row.characters, row.prompt_tokens) == (None, None, None)


ONCE = Call(MODEL, Usage(prompt=2_500, output=7), 1.0)


@pytest.mark.parametrize(
    ("calls", "known"),
    [
        ((ONCE,), 2_500),
        ((), None),
        ((ONCE, ONCE), None),
        ((msgspec.structs.replace(ONCE, attempts=2),), None),
        ((msgspec.structs.replace(ONCE, estimated=True),), None),
        ((msgspec.structs.replace(ONCE, usage=Usage(output=7)),), None),
        ((msgspec.structs.replace(ONCE, usage=Usage(prompt=0)),), None),
        ((msgspec.structs.replace(ONCE, usage=Usage(prompt=10**20)),), None),
    ],
    ids=["one call", "none", "two calls", "two attempts", "estimated", "not told", "zero", "absurd"],
)
def test_only_what_was_counted_for_one_request_is_taken(
    kept: Store, reading: Judged, calls: tuple[Call, ...], known: int | None
) -> None:
    add(kept, reading, "j-next", *calls)
    assert kept.row("j-next").prompt_tokens == known


def test_sizes_are_learned_from_rows_of_the_same_model(kept: Store, reading: Judged) -> None:
    add(kept, reading, "j-2", ONCE, characters=10_000)
    add(kept, reading, "j-3", ONCE, model="another/model", characters=70_000)
    add(kept, reading, "j-4", ONCE, ONCE)
    assert kept.calibration_pairs(MODEL) == [(10_000, 2_500), (9_000, 2_500)]
    assert kept.calibration_pairs("another/model") == [(70_000, 2_500)]
    assert kept.calibration_pairs("unknown/model") == []


def test_a_readers_judgment_as_it_was_stored_is_sound(kept: Store, reading: Judged) -> None:
    checked = verify_stored(kept, reading.judgment.id)
    assert checked.findings == ()


def test_an_accusation_that_was_made_little_of_is_found(kept: Store, reading: Judged) -> None:
    first, second, *others = reading.judgment.scores
    scores = (first, msgspec.structs.replace(second, worse=False), *others)
    kept.add_judgment(msgspec.structs.replace(reading.judgment, id="j-mild", scores=scores), reading.rubric)
    (found,) = verify_stored(kept, "j-mild").findings
    assert (found.place, found.words) == (
        "hallucination",
        "stored is that it is not worse, the gate says worse than blameless",
    )


def test_a_value_that_was_taken_away_cannot_be_put_back(kept: Store, reading: Judged) -> None:
    forged = gate_scores(
        reading.rubric or pytest.fail("a rubric"),
        [DimensionAnswer("loop", 2, "In circles.", (Citation("t3", "cat billing.py"),))],
        Exhibits(reading.run.record),
    )
    demoted = reading.judgment.scores[3]
    scores = (*reading.judgment.scores[:3], msgspec.structs.replace(demoted, value=2), *reading.judgment.scores[4:])
    assert forged[3].value == 2  # it would stand on a turn that shows it
    kept.add_judgment(msgspec.structs.replace(reading.judgment, id="j-forged", scores=scores))
    assert [found.place for found in verify_stored(kept, "j-forged").findings] == ["loop"]
