"""Judgments as JUnit XML, so that a build server shows verdicts as it shows tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from adjudge.evidence import Holding, fold
from adjudge.exports.judged import Judged
from adjudge.exports.scores import figure, scale_of, share_of_cause, why_none
from adjudge.judgment import CauseFound, Score, Verdict
from adjudge.untrusted import shown

COUNTS = {"tests": ".//testcase", "failures": ".//failure", "errors": ".//error", "skipped": ".//skipped"}
"""What is counted in each suite and in all, and where it stands."""

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write, not even as a reference (its production 2, `Char`)."""


def junit_xml(judged: Iterable[Judged]) -> str:
    """A `testsuite` for each judgment, a `testcase` for each criterion or dimension.

    A judgment that brought nothing, because it is errored or empty, has one `error` besides.
    """
    root = ElementTree.Element("testsuites", name="adjudge")
    for each in judged:
        root.append(_suite(each))
    for name in COUNTS:
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _suite(judged: Judged) -> ElementTree.Element:
    judgment = judged.judgment
    suite = _element(
        "testsuite",
        name=f"{judgment.run} {judgment.rubric or 'without a rubric'}",
        id=judgment.id,
        timestamp=judgment.started,
        time=f"{judgment.seconds:.3f}",
    )
    if judgment.status == "errored":
        case = _case(suite, "judgment", judged)
        case.append(_element("error", "The run could not be judged.", message=judgment.reason or "", type="errored"))
    elif judgment.empty:
        case = _case(suite, "judgment", judged)
        case.append(_element("error", "The reader answered.", message="no dimension has a value", type="empty"))
    for verdict in judgment.verdicts:
        _add_verdict(suite, verdict, judged)
    for score in judgment.scores:
        _add_score(suite, score, judged)
    for name, path in COUNTS.items():
        suite.set(name, str(len(suite.findall(path))))
    return suite


def _add_verdict(suite: ElementTree.Element, verdict: Verdict, judged: Judged) -> None:
    text = judged.criterion(verdict.criterion)
    case = _case(suite, verdict.criterion if text == verdict.criterion else f"{verdict.criterion}: {text}", judged)
    said = "\n".join([verdict.note, *map(_cited, verdict.holdings)])
    if verdict.passed:
        case.append(_element("system-out", said))
    else:
        case.append(_element("failure", said, message=verdict.note, type=verdict.cause or "fail"))


def _add_score(suite: ElementTree.Element, score: Score, judged: Judged) -> None:
    case, dimension = _case(suite, score.dimension, judged), judged.dimension(score.dimension)
    value = f"{figure(score.value)} ({scale_of(dimension)})"
    under_causes = {holding for cause in score.causes for holding in cause.holdings}
    own = [_cited(holding) for holding in score.holdings if holding not in under_causes]
    said = "\n".join([value, score.reasoning, *own, *map(_caused, score.causes)])
    if score.worse:
        case.append(_element("failure", said, message=value, type="worse than blameless"))
    elif (why := why_none(score)) is not None:
        case.append(_element("skipped", said, message=why, type=score.fault or "not established"))
    else:
        case.append(_element("system-out", said))


def _caused(cause: CauseFound) -> str:
    told = f"{cause.cause} ({share_of_cause(cause)}): {cause.recommendation}"
    return "\n".join([told, *(f"    {_cited(holding)}" for holding in cause.holdings)])


def _case(suite: ElementTree.Element, name: str, judged: Judged) -> ElementTree.Element:
    case = _element("testcase", name=name, classname=f"adjudge.{judged.judgment.rubric or 'run'}")
    suite.append(case)
    return case


def _cited(holding: Holding) -> str:
    quote = f"{holding.citation.exhibit}: {fold(holding.citation.quote)}"
    return f"{quote} [{holding.fault}]" if holding.fault else quote


def _element(tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.Element(tag, {name: _legal(value) for name, value in attributes.items()})
    element.text = _legal(text) if text is not None else None
    return element


def _legal(text: str) -> str:
    return _ILLEGAL.sub(lambda match: f"<U+{ord(match[0]):04X}>", shown(text))
