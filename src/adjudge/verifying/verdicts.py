"""Verdicts put through the gate again, and probes decided again from what their looks show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex

from adjudge.errors import OutsideError
from adjudge.evidence import Exhibits, Look
from adjudge.judgment import Answer, Verdict, gate
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Probe, Rubric
from adjudge.verifying.holdings import moved
from adjudge.verifying.values import Finding

MATCH_SECONDS = 2.0


def of_verdicts(verdicts: Sequence[Verdict], rubric: Rubric, exhibits: Exhibits) -> Iterator[Finding]:
    """What is not as the gate, or the probe, decides today."""
    criteria = {criterion.id: criterion for criterion in rubric.criteria}
    for verdict in verdicts:
        if criterion := criteria.get(verdict.criterion):
            yield from _of_verdict(criterion, verdict, exhibits)


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
        yield from moved(stored, exhibits.check(stored.citation))


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
