"""Checking a rubric's wording: what cannot be established by looking or told apart by reading, and what would be better.

Remarks are advice and never stop a judgment. They know English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from adjudge.rubric.values import Criterion, Dimension, Rubric, Scale

PLENTY = 12
"""Criteria, or dimensions, after which a rubric is better split."""

FEW = 10
"""Values up to which each value of a scale of whole numbers can have its own words."""


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong, at which words, and the shape of something better.

    It is about a criterion, a dimension, or, with neither, the rubric.
    """

    criterion: str | None
    words: str
    wrong: str
    better: str
    dimension: str | None = None


def check_rubric(rubric: Rubric) -> tuple[Remark, ...]:
    """The remarks on a rubric, in its order. What a probe decides needs no remark."""
    return _on_dimensions(rubric) if rubric.dimensions else _on_criteria(rubric)


def _on_criteria(rubric: Rubric) -> tuple[Remark, ...]:
    remarks = [remark for criterion in rubric.criteria if criterion.probe is None for remark in _remarks(criterion)]
    if len(rubric.criteria) > PLENTY:
        remarks.append(
            Remark(
                None,
                f"{len(rubric.criteria)} criteria",
                "are more than an evaluator can establish within its looks",
                f"at most {PLENTY}, each one that would change your mind about the run; split the rest off",
            )
        )
    return tuple(remarks)


_LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
"""Code and quotations, which name things and are not the criterion's own words."""

_VAGUE = re.compile(
    r"\b(?:correct(?:ly|ness)?|proper(?:ly)?|minimal(?:ly)?|(?<!as )well(?![- ]known)|(?:is|are|was|were|been|bug) fixed"
    r"|(?<!tree is )(?<!tree )clean(?:ly|er)?|appropriate(?:ly)?|robust(?:ly|ness)?|good|nice(?:ly)?|reasonabl[ey]"
    r"|sensibl[ey]|sufficient(?:ly)?|adequate(?:ly)?|(?:in)?efficient(?:ly)?|elegant(?:ly)?|readable|readability|simple"
    r"|maintainab\w+|high[- ]quality|quality|thorough(?:ly)?|careful(?:ly)?|gracefully|successful(?:ly)?|works|relevant"
    r"|as (?:expected|intended|needed|required)|best practices?|unnecessary|idiomatic|intuitive|user[- ]friendly"
    r"|meaningful|better|improve[sd]?|should)\b",
    re.I,
)

_VERB = (
    r"(?:is|are|was|were|has|have|does|do|exits?|returns?|prints?|answers?|contains?|holds?|pass(?:es)?|raises|exists?|lists|shows"
    r"|writes|wrote|creates?d?|uses?d?|runs?|ran|updates?d?|adds?|added|fixes|says|states|mentions|handles|keeps|equals|fails?)"
)
_TWO_VERBS = re.compile(rf"\b{_VERB}\b.*?(\band (?!no\b|not\b)(?:also |then )?(?:\S+ ){{0,4}}?{_VERB}\b)", re.I | re.S)
_SEVERAL = re.compile(r";|\b[Bb]oth\b|\bas well as\b|\band also\b|(?<=[\w)§])\. [A-Z][a-z]+ ")

_NAMED = re.compile(
    r"\d|/\w|\b\w+\.(?:py|js|ts|md|txt|json|ya?ml|toml|csv|html?|sh|c|h|cpp|rs|go|java|rb|sql|log|cfg|ini|lock|xml)\b"
    r"|\b[a-z]+_\w+|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z]+[A-Z]\w+|\b[A-Z]{4,}\b"
    r"|\b(?:git|pytest|unittest|npm|yarn|cargo|make|docker|curl|grep|ruff|mypy|pip|uv|node|python3?|bash)\b"
    r"|\bfinal message\b"
)


def _vague(words: str) -> list[str]:
    return list(dict.fromkeys(match[0].lower() for match in _VAGUE.finditer(words)))


def _remarks(criterion: Criterion) -> Iterator[Remark]:
    words = _LITERAL.sub("§", criterion.text)
    if vague := _vague(words):
        yield Remark(
            criterion.id,
            ", ".join(vague),
            "two people could look at the same thing and disagree",
            "say what is seen when it is so: `COMMAND` prints VALUE, or FILE contains TEXT",
        )
    if several := _SEVERAL.search(words) or _TWO_VERBS.search(words):
        yield Remark(
            criterion.id,
            several[several.lastindex or 0].strip(),
            "holds several facts, and fails as a whole when one is untrue",
            "one criterion for each fact",
        )
    if words == criterion.text and not _NAMED.search(words):
        yield Remark(
            criterion.id,
            criterion.text[:60],
            "names no file, command, tool or number to look at",
            "name it: in `PATH`, `COMMAND` exits with status 0; the final message says NUMBER",
        )


# --- dimensions


def _on_dimensions(rubric: Rubric) -> tuple[Remark, ...]:
    found = [
        Remark(None, *words, dimension=dimension.id)
        for dimension in rubric.dimensions
        for words in (*_on_values(dimension), *_on_findings(dimension))
    ]
    if len(rubric.dimensions) > PLENTY:
        words = f"{len(rubric.dimensions)} dimensions"
        better = f"at most {PLENTY}; a second file for the rest"
        found.append(Remark(None, words, "are more than one reading can keep apart", better))
    return tuple(found)


Words = tuple[str, str, str]
"""The words, what is wrong with them, and what would be better."""


def _on_values(dimension: Dimension) -> Iterator[Words]:
    """Whether two people would give the same value."""
    if not dimension.guidance:
        yield "no guidance", "nothing tells its values apart", "say for each value what stands in the record when it is so"
    elif untold := [
        value for value in _values(dimension.scale) if not re.search(rf"(?<![\w.-]){value}\b", dimension.guidance)
    ]:
        words = ", ".join(map(str, untold))
        yield words, "are values that the guidance does not tell apart", "for each value a fact, as in `2: it cost a turn`"
    if vague := _vague(_LITERAL.sub("§", dimension.description)):
        wrong = "two people could read the same record and disagree"
        yield ", ".join(vague), wrong, "say in the description what the agent did when it is so"


def _on_findings(dimension: Dimension) -> Iterator[Words]:
    """Whether what only looks like a finding, or fits no cause, has a place."""
    if not dimension.not_findings:
        wrong = "what only looks like a finding will be taken for one"
        yield "no not_findings", wrong, "list what a fair reader would let pass"
    if dimension.causes and "other" not in (cause.lower() for cause in dimension.causes):
        yield "causes", "what fits none of them will be pressed into one", "add `other`"


def _values(scale: Scale) -> range:
    """The values of a scale, if they are few."""
    few = scale.whole and scale.most - scale.least < FEW
    return range(int(scale.least), int(scale.most) + 1) if few else range(0)
