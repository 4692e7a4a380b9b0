"""What a reviewer may say: of what is judged, in words, and on the item's own scale."""

from __future__ import annotations

import msgspec

from adjudge.errors import InputError
from adjudge.evidence import says_something
from adjudge.judgment import Judgment, Score, Verdict
from adjudge.reviews.values import Review, Said, review_id
from adjudge.rubric import Criterion, Dimension, Rubric

LONGEST_REASON = 10_000
LONGEST_NAME = 100


def review_of(said: Said, judgment: Judgment, rubric: Rubric | None, added: str) -> Review:
    """The review that was said of an item of this judgment, which was made with this rubric.

    Raises:
        InputError: there is no such item, the reason or the name says nothing, or the answer is not one to this item.
    """
    judged = judged_item(judgment, said.item)
    _require_words(said)
    worse = None if said.mode == "seen" else _worse(said, judged, rubric)
    if said.mode == "seen" and (said.approved is None or said.passed is not None or said.value is not None):
        raise InputError(f"{_of(said)}: who has seen what the judge said approves or denies it, and gives no answer beside")
    fields = msgspec.structs.asdict(said) | {"value": None if said.value is None else float(said.value)}
    review = Review(**fields, id="", added=added, worse=worse)
    return msgspec.structs.replace(review, id=review_id(review))


def judged_item(judgment: Judgment, item: str) -> Verdict | Score:
    """The verdict or score of this criterion or dimension. Raises InputError if the judgment has none; it names them."""
    judged: dict[str, Verdict | Score] = {verdict.criterion: verdict for verdict in judgment.verdicts}
    judged |= {score.dimension: score for score in judgment.scores}
    if item not in judged:
        has = f"it has {', '.join(judged)}" if judged else "it has no verdict and no score at all"
        raise InputError(f"judgment {judgment.id}: nothing in it is judged as {item!r}; {has}")
    return judged[item]


def _require_words(said: Said) -> None:
    if not says_something(said.reviewer) or len(said.reviewer) > LONGEST_NAME or not said.reviewer.isprintable():
        raise InputError(f"reviewer {said.reviewer!r}: must be a name of one line and at most {LONGEST_NAME} characters")
    if not says_something(said.reason):
        raise InputError(
            f"{_of(said)}: a review needs a reason, for an approval as for a denial; say what you saw, and where"
        )
    if len(said.reason) > LONGEST_REASON:
        raise InputError(f"{_of(said)}: the reason has {len(said.reason)} characters; at most {LONGEST_REASON} are kept")


def _worse(said: Said, judged: Verdict | Score, rubric: Rubric | None) -> bool:
    if said.approved is not None:
        raise InputError(f"{_of(said)}: a blind review approves of nothing, since it has not seen it; give your own answer")
    if isinstance(judged, Verdict):
        if said.passed is None or said.value is not None:
            raise InputError(f"{_of(said)}: is a criterion; the answer to it is pass or fail")
        return not said.passed
    dimension = dimension_of(rubric, said.item)
    scale = dimension.scale
    if said.value is None or said.passed is not None or not scale.holds(said.value):
        kind = "a whole number" if scale.whole else "a number"
        raise InputError(f"{_of(said)}: the answer must be {kind} from {scale.least:g} to {scale.most:g}")
    return dimension.accuses(said.value)


def dimension_of(rubric: Rubric | None, item: str) -> Dimension:
    """The dimension of this id. Raises InputError if the rubric has none."""
    found = next((each for each in (rubric.dimensions if rubric else ()) if each.id == item), None)
    if found is None:
        raise InputError(f"{item}: the rubric has no such dimension, so its scale is not known")
    return found


def require_asked(judgment: Judgment, rubric: Rubric | None, item: str) -> tuple[Rubric, Criterion | Dimension]:
    """The rubric of a judgment, and what it asks under this id. Raises InputError if it asks no such thing."""
    asked: dict[str, Criterion | Dimension] = {}
    if rubric is not None:
        asked |= {criterion.id: criterion for criterion in rubric.criteria}
        asked |= {dimension.id: dimension for dimension in rubric.dimensions}
    if rubric is None or item not in asked:
        raise InputError(f"judgment {judgment.id}: {item!r} is not asked by a rubric, so nobody can be asked it again")
    return rubric, asked[item]


def _of(said: Said) -> str:
    return f"review of {said.item} in judgment {said.judgment}"
