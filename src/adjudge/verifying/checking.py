"""All of a judgment: its rubric, its looks, its score, then each verdict or score with every citation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from adjudge.errors import OutsideError
from adjudge.evidence import Exhibits
from adjudge.judgment import Judgment, score
from adjudge.record import Record
from adjudge.rubric import Rubric, content_hash
from adjudge.verifying.scores import of_scores
from adjudge.verifying.values import Finding, Verification
from adjudge.verifying.verdicts import of_verdicts


def verify(judgment: Judgment, record: Record, rubric: Rubric | None) -> Verification:
    """Check every citation, verdict and score of a judgment again. `rubric` is the one that it was made with."""
    findings = [*_of_rubric(judgment, rubric), *_of_looks(judgment), *_of_score(judgment)]
    findings += _of_answers(judgment, record, rubric) if rubric else ()
    holdings = [verdict.holdings for verdict in judgment.verdicts] + [score.holdings for score in judgment.scores]
    citations = sum(map(len, holdings))
    holding = sum(each.standing is not None for some in holdings for each in some)
    return Verification(judgment.id, len(judgment.verdicts), citations, tuple(findings), len(judgment.scores), holding)


def _of_answers(judgment: Judgment, record: Record, rubric: Rubric) -> Iterator[Finding]:
    try:
        exhibits = Exhibits(record, judgment.looks)
    except OutsideError as error:  # the agent's last message is damaged where it lies
        yield Finding("record", f"no verdict and no score could be checked: {error}")
        return
    yield from of_verdicts(judgment.verdicts, rubric, exhibits)
    yield from of_scores(judgment.scores, rubric, exhibits)


def _of_rubric(judgment: Judgment, rubric: Rubric | None) -> Iterator[Finding]:
    if judgment.rubric_hash is None:
        if (judgment.verdicts and judgment.judge.kind != "process") or judgment.scores:
            yield Finding("rubric", "there are answers, but no rubric that they answer")
        return
    if rubric is None:
        yield Finding("rubric", f"the rubric {judgment.rubric_hash} is not at hand, so nothing that answers it was checked")
        return
    if content_hash(rubric) != judgment.rubric_hash:
        yield Finding("rubric", f"its content is not that with hash {judgment.rubric_hash}, which was judged")
    if judgment.status == "judged":
        yield from _of_asked(judgment, rubric)


def _of_asked(judgment: Judgment, rubric: Rubric) -> Iterator[Finding]:
    """Whether everything that was asked is answered, in its order, and nothing else."""
    asked = [criterion.id for criterion in rubric.criteria] + [dimension.id for dimension in rubric.dimensions]
    answered = [verdict.criterion for verdict in judgment.verdicts] + [score.dimension for score in judgment.scores]
    if asked != answered:
        answers = "scores" if rubric.dimensions else "verdicts"
        yield Finding("rubric", f"it asks {', '.join(asked)}; the {answers} are for {', '.join(answered) or 'nothing'}")


def _of_looks(judgment: Judgment) -> Iterator[Finding]:
    for name, count in Counter(look.id for look in judgment.looks).items():
        if count > 1:
            yield Finding("looks", f"{name} is there {count} times")


def _of_score(judgment: Judgment) -> Iterator[Finding]:
    scored = judgment.status == "judged" and judgment.rubric_hash is not None
    expected = score(judgment.verdicts) if scored else None
    if judgment.score != expected:
        yield Finding("score", f"stored is {judgment.score}, the verdicts give {expected}")
    if judgment.status == "errored" and judgment.scores:
        yield Finding("score", "it is errored, and yet dimensions are scored")
