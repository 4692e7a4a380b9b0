"""Checking a stored judgment again, by code alone: would the gate let each of its verdicts through today?

That finds a quote, a look, an entry, a verdict or a score that was changed after the judgment, unless all that depends on
it was changed to fit. It cannot find that, and it cannot say who wrote the judgment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import regex

from adjudge.errors import OutsideError
from adjudge.evidence import Exhibits, Holding, Look
from adjudge.judgment import Answer, Judgment, Verdict, gate, score
from adjudge.record import Record
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Probe, Rubric, rubric_hash

MATCH_SECONDS = 2.0


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it was stored. `place` is a criterion's id, or `score`, `rubric`, `looks` or `row`.

    The places of what lies deeper (`record`, `store`) are given by the store.
    """

    place: str
    words: str


class Verification(msgspec.Struct, frozen=True):
    """The result of checking a judgment again: how many verdicts and citations were checked, and what was found."""

    judgment: str
    verdicts: int = 0
    citations: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify(judgment: Judgment, record: Record, rubric: Rubric | None) -> Verification:
    """Check every citation, verdict and the score of a judgment again. `rubric` is the one that it was made with."""
    findings = [*_of_rubric(judgment, rubric), *_of_looks(judgment), *_of_score(judgment)]
    findings += _of_verdicts(judgment, record, rubric) if rubric else ()
    citations = sum(len(verdict.holdings) for verdict in judgment.verdicts)
    return Verification(judgment.id, len(judgment.verdicts), citations, tuple(findings))


def _of_verdicts(judgment: Judgment, record: Record, rubric: Rubric) -> Iterator[Finding]:
    try:
        exhibits = Exhibits(record, judgment.looks)
    except OutsideError as error:  # the agent's last message is damaged where it lies
        yield Finding("record", f"no verdict could be checked: {error}")
        return
    criteria = {criterion.id: criterion for criterion in rubric.criteria}
    for verdict in judgment.verdicts:
        if criterion := criteria.get(verdict.criterion):
            yield from _of_verdict(criterion, verdict, exhibits)


def _of_rubric(judgment: Judgment, rubric: Rubric | None) -> Iterator[Finding]:
    if judgment.rubric_hash is None:
        if judgment.verdicts and judgment.judge.kind != "process":
            yield Finding("rubric", "there are verdicts, but no rubric that they answer")
        return
    if rubric is None:
        yield Finding("rubric", f"the rubric {judgment.rubric_hash} is not at hand, so no verdict could be checked")
        return
    if rubric_hash(rubric.criteria) != judgment.rubric_hash:
        yield Finding("rubric", f"its criteria are not those with hash {judgment.rubric_hash}, which were judged")
    asked, answered = [c.id for c in rubric.criteria], [verdict.criterion for verdict in judgment.verdicts]
    if judgment.status == "judged" and asked != answered:
        yield Finding("rubric", f"it asks {', '.join(asked)}; the verdicts are for {', '.join(answered) or 'nothing'}")


def _of_looks(judgment: Judgment) -> Iterator[Finding]:
    for name, count in Counter(look.id for look in judgment.looks).items():
        if count > 1:
            yield Finding("looks", f"{name} is there {count} times")


def _of_score(judgment: Judgment) -> Iterator[Finding]:
    scored = judgment.status == "judged" and judgment.rubric_hash is not None
    expected = score(judgment.verdicts) if scored else None
    if judgment.score != expected:
        yield Finding("score", f"stored is {judgment.score}, the verdicts give {expected}")


def _of_verdict(criterion: Criterion, verdict: Verdict, exhibits: Exhibits) -> list[Finding]:
    try:
        if verdict.probe or criterion.probe is not None:
            words = [*_of_holdings(verdict, exhibits), *_of_probe(criterion, verdict, exhibits)]
        else:
            words = [*_of_holdings(verdict, exhibits), *_of_answer(criterion, verdict, exhibits)]
    except OutsideError as error:  # an exhibit that is damaged where it lies
        words = [str(error)]
    return [Finding(criterion.id, each) for each in words]


def _of_holdings(verdict: Verdict, exhibits: Exhibits) -> Iterator[str]:
    for stored in verdict.holdings:
        now = exhibits.check(stored.citation)
        if (now.standing, now.source) != (stored.standing, stored.source):
            yield f"the citation of {stored.citation.exhibit} was {_words(stored)}, now it is {_words(now)}"


def _words(holding: Holding) -> str:
    if holding.standing is None:
        return f"faulty ({holding.fault})"
    return f"{holding.standing} in {holding.source}" if holding.source else holding.standing


def _of_answer(criterion: Criterion, verdict: Verdict, exhibits: Exhibits) -> Iterator[str]:
    """What the gate says of the same answer today. Its words may have changed since, so only its decision is compared."""
    if not verdict.passed and verdict.cause == "evidence" and not verdict.holdings and verdict.answer:
        return  # it was answered more than once: a fail for which no citation was checked
    answers = [] if verdict.cause == "skipped" else [verdict.answer or _answer(verdict)]
    (again,), _ = gate(Rubric("", (criterion,), "", ""), answers, exhibits)
    if (again.passed, again.cause) != (verdict.passed, verdict.cause):
        yield f"stored is {_decision(verdict)}, the gate says {_decision(again)}{_why(again)}"
    elif tuple(h.citation for h in again.holdings) != tuple(h.citation for h in verdict.holdings):
        yield "its citations are not those of the answer beside it"


def _answer(verdict: Verdict) -> Answer:
    """The answer from which the gate made a verdict that it did not change."""
    cause = verdict.cause if verdict.cause in ("agent", "environment", "unproven") else None
    return Answer(verdict.criterion, verdict.passed, verdict.note, tuple(h.citation for h in verdict.holdings), cause)


def _decision(verdict: Verdict) -> str:
    return "pass" if verdict.passed else f"fail ({verdict.cause})"


def _why(verdict: Verdict) -> str:
    return f": {verdict.fault}" if verdict.fault else ""


def _of_probe(criterion: Criterion, verdict: Verdict, exhibits: Exhibits) -> Iterator[str]:
    if criterion.probe is None:
        yield "it says that a probe decided, but the criterion has none"
        return
    if not verdict.probe:
        yield "the criterion has a probe, but the verdict does not come from it"
    if verdict.passed and not any(holding.standing for holding in verdict.holdings):
        yield "stored is pass, but it cites no look of the probe"
    for name in sorted({holding.citation.exhibit for holding in verdict.holdings} & exhibits.looks.keys()):
        look = exhibits.looks[name]
        again = _decided(criterion.probe, look)
        if again != verdict.passed and (verdict.passed or (again and verdict.cause is None)):
            yield f"stored is {_decision(verdict)}, what {name} shows makes it a {'pass' if again else 'fail'}"


def _decided(probe: Probe, look: Look) -> bool:
    return _command(probe, look) if isinstance(probe, CommandProbe) else _file(probe, look)


def _command(probe: CommandProbe, look: Look) -> bool:
    """What a command's look makes of its probe."""
    if look.failed or look.exit_status != probe.exit:
        return False
    if probe.stdout is not None and look.text != probe.stdout:
        return False
    return probe.stdout_matches is None or _matches(probe.stdout_matches, look.text)


def _file(probe: FileProbe, look: Look) -> bool:
    """What a file's look makes of its probe. Of a long file only the beginning is kept, and only that can be compared."""
    if look.failed or look.found == 0:
        return not look.failed and probe.exists is False
    cut = any(fact.startswith("cut:") for fact in look.facts)
    beginning = look.text.rstrip("\ufffd") if cut else look.text
    if probe.equals is not None and (probe.equals[: len(beginning)] if cut else probe.equals) != beginning:
        return False
    return probe.exists is not False and (probe.matches is None or cut or _matches(probe.matches, look.text))


def _matches(pattern: str, text: str) -> bool:
    """Whether a pattern is found in a text, which one that takes too long is not."""
    try:
        return regex.search(pattern, text, timeout=MATCH_SECONDS, concurrent=True) is not None
    except (regex.error, TimeoutError):
        return False
