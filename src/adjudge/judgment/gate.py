"""The gate through which every verdict must pass: the one place where a model's answer becomes one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

import msgspec

from adjudge.evidence import Exhibits, Holding, fold, says_something, suffices
from adjudge.judgment.values import Answer, Verdict
from adjudge.rubric import Criterion, Rubric


class Fault(msgspec.Struct, frozen=True):
    """Something wrong with an answer, in words that the evaluator can act on."""

    criterion: str
    words: str


def gate(rubric: Rubric, answers: Sequence[Answer], exhibits: Exhibits) -> tuple[tuple[Verdict, ...], tuple[Fault, ...]]:
    """Turn a model's answers into verdicts, one for every criterion that has no probe, in the rubric's order.

    The only place where an answer becomes a verdict. A pass stands only on citations that hold and can prove what the
    criterion says. The faults are what the evaluator may mend once; the verdicts are what stands if it does not.
    """
    asked = {criterion.id: criterion for criterion in rubric.criteria if criterion.probe is None}
    given: dict[str, list[Answer]] = {}
    for answer in dict.fromkeys(answers):  # the same answer twice is one answer
        given.setdefault(answer.criterion, []).append(answer)
    probed = {criterion.id for criterion in rubric.criteria} - asked.keys()
    faults = [Fault(name, _unasked(name, probed)) for name in given if name not in asked]
    verdicts = []
    for criterion in asked.values():
        verdict = _verdict(criterion, given.get(criterion.id, ()), exhibits)
        verdicts.append(verdict)
        if verdict.fault:
            faults.append(Fault(criterion.id, verdict.fault))
    return tuple(verdicts), tuple(faults)


def _unasked(name: str, probed: Collection[str]) -> str:
    return "it is decided by its probe and takes no answer" if name in probed else "there is no such criterion"


MOST_CITATIONS = 50
"""Citations of one answer that are checked; what those do not show, no more would."""


def _verdict(criterion: Criterion, answers: Sequence[Answer], exhibits: Exhibits) -> Verdict:
    if not answers:
        return Verdict(criterion.id, False, "The evaluator gave no answer.", cause="skipped", fault="it has no answer")
    if len(answers) > 1:
        return Verdict(
            criterion.id,
            False,
            "The evaluator answered more than once.",
            cause="evidence",
            fault="it is answered more than once, in different ways; answer it once",
            answer=answers[0],
        )
    answer = answers[0]
    holdings = tuple(exhibits.check(citation) for citation in answer.citations[:MOST_CITATIONS])
    return _passed(criterion, answer, holdings) if answer.passed else _failed(criterion, answer, holdings)


def _passed(criterion: Criterion, answer: Answer, holdings: tuple[Holding, ...]) -> Verdict:
    missing = suffices(criterion, holdings)
    wrong = "; ".join(holding.fault for holding in holdings if holding.fault)
    if missing:
        fault = f"{missing}: {wrong}" if wrong else missing
        note = f"Not proven: {fault}."
        return Verdict(criterion.id, False, note, holdings, "evidence", fault, answer)
    note, fault_of_note = _note(criterion, answer, holdings)
    return Verdict(criterion.id, True, note, holdings, None, fault_of_note, answer if fault_of_note else None)


def _failed(criterion: Criterion, answer: Answer, holdings: tuple[Holding, ...]) -> Verdict:
    blames = answer.cause in ("agent", "environment")
    holds = any(holding.standing for holding in holdings)
    note, fault = _note(criterion, answer, holdings)
    if blames and not holds:
        fault = f"it blames the {answer.cause} without a citation that holds"
        wrong = "; ".join(holding.fault for holding in holdings if holding.fault)
        return Verdict(criterion.id, False, note, holdings, "unproven", f"{fault}: {wrong}" if wrong else fault, answer)
    return Verdict(criterion.id, False, note, holdings, answer.cause or "unproven", fault, answer if fault else None)


def _note(criterion: Criterion, answer: Answer, holdings: Sequence[Holding]) -> tuple[str, str | None]:
    """The answer's note, or one made of its citations if it is blank or only restates the criterion."""
    note = answer.note.strip()
    blank = not says_something(note)
    if not blank and not restates(note, criterion.text):
        return note, None
    cited = "; ".join(f"{h.citation.exhibit}: {fold(h.citation.quote)}" for h in holdings if h.standing)
    fault = "its note is blank" if blank else "its note only restates the criterion; say what was found, and where"
    return cited or "The evaluator established nothing.", fault


def restates(note: str, criterion: str) -> bool:
    """Whether a note says hardly more than its criterion, word by word."""
    left, right = _words(note), _words(criterion)
    if not left or not right or not 0.5 < len(left) / len(right) < 2:
        return False
    if any(_CONCRETE.search(word) for word in set(left) - set(right)):
        return False
    return SequenceMatcher(None, left, right, autojunk=False).ratio() > 0.85


def _words(text: str) -> list[str]:
    """Words without case and without the marks around them."""
    return [word for each in text[:_COMPARED].casefold().split() if (word := each.strip(".,;:!?`'\"()"))]


_COMPARED = 2_000
"""Characters of a note that are compared with its criterion."""

_CONCRETE = re.compile(r"[\d/_.=]")
"""In a number, a path, a name or a value; a note that adds one has found something."""


def score(verdicts: Sequence[Verdict]) -> float | None:
    """Criteria passed over criteria judged, between 0 and 1; `None` if there is none."""
    return sum(verdict.passed for verdict in verdicts) / len(verdicts) if verdicts else None
