"""Checking a rubric's wording: which criteria cannot be established by looking, and what a better one looks like.

Remarks are advice and never stop a judgment. They know English only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from adjudge.rubric.values import Criterion, Rubric

PLENTY = 12
"""Criteria after which a rubric is better split."""


class Remark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong with a criterion (or, without one, with the rubric), at which words, and the shape of a better one."""

    criterion: str | None
    words: str
    wrong: str
    better: str


def check_rubric(rubric: Rubric) -> tuple[Remark, ...]:
    """The remarks on a rubric, in its order. What a probe decides needs no remark."""
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


def _remarks(criterion: Criterion) -> Iterator[Remark]:
    words = _LITERAL.sub("§", criterion.text)
    if vague := list(dict.fromkeys(match[0].lower() for match in _VAGUE.finditer(words))):
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
