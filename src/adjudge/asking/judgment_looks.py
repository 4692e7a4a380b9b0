"""Looks at rubrics, judgments and passes."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.asking.lines import AT_ONCE, LONGEST_WORDS, Line, counted, joined, money, page, part, theirs
from adjudge.asking.run_looks import judgment_line
from adjudge.asking.source import Source
from adjudge.asking.tools import ListJudgments, ListPasses, ListRubrics, ReadJudgment
from adjudge.asking.values import Look
from adjudge.judgment import Judgment, Score, Verdict
from adjudge.rubric import Rubric
from adjudge.store.found import JudgmentFilter, find_judgments, totals
from adjudge.store.judged import rubrics_of
from adjudge.store.pass_rows import PassRow

LONGEST_NOTE = 1_000
LONGEST_SUMMARY = 3_000
LONGEST_QUOTE = 200
MOST_CITED = 6
"""Citations of one verdict that are shown."""


def list_rubrics(source: Source, asked: ListRubrics) -> Look:
    """The rubrics that judgments were made with, or one of them with its items."""
    if asked.rubric is not None:
        rubric = source.store.rubric(source.rubric(asked.rubric))
        return part([((), line) for line in _of_rubric(rubric)], asked.offset, "lines")
    known = rubrics_of(source.store)
    used = [(hash, name, find_judgments(source.store, JudgmentFilter(rubric=hash), 0, 0)[1]) for hash, name in known]
    lines: list[Line] = [
        ((), joined(f"rubric {theirs(name)}", f"hash {hash[:12]}", counted(judgments, "judgment")))
        for hash, name, judgments in used
    ]
    without = totals(source.store).judgments - sum(judgments for *_, judgments in used)
    return part(lines, asked.offset, "rubrics", f"judgments without a rubric: {without}" if without else "")


def _of_rubric(rubric: Rubric) -> Iterator[str]:
    items = counted(len(rubric.criteria), "criterion", "criteria") if rubric.criteria else ""
    yield joined(
        f"rubric {theirs(rubric.name)}", f"hash {rubric.hash[:12]}", items, counted(len(rubric.dimensions), "dimension")
    )
    for criterion in rubric.criteria:
        yield f"criterion {theirs(criterion.id)}: {theirs(criterion.text, LONGEST_NOTE)}"
    for each in rubric.dimensions:
        scale = f"from {each.scale.least:g} to {each.scale.most:g}, blameless is {each.baseline:g}, {each.worse} is worse"
        yield joined(f"dimension {theirs(each.id)}", scale, theirs(each.description, LONGEST_NOTE))


def list_judgments(source: Source, asked: ListJudgments) -> Look:
    """A page of judgments, the latest first."""
    rubric = None if asked.rubric is None else source.rubric(asked.rubric)
    wanted = JudgmentFilter(asked.run, rubric, asked.in_pass, asked.status)
    found, total = find_judgments(source.store, wanted, asked.offset, AT_ONCE)
    return page((((row.id, row.run), judgment_line(row)) for row in found), total, asked.offset, "judgments")


def read_judgment(source: Source, asked: ReadJudgment) -> Look:
    """A judgment with each verdict or score, its note and what it cites."""
    judgment = source.store.judgment(asked.judgment)
    head = judgment_line(source.store.row(judgment.id))
    lines: list[Line] = [((judgment.id, judgment.run), head), *_about(judgment)]
    lines += [((f"{judgment.id}/{each.criterion}",), verdict_line(each)) for each in judgment.verdicts]
    lines += [((f"{judgment.id}/{each.dimension}",), score_line(each)) for each in judgment.scores]
    return part(lines, asked.offset, "lines")


def _about(judgment: Judgment) -> Iterator[Line]:
    if judgment.summary:
        yield (judgment.id,), f"summary {theirs(judgment.summary, LONGEST_SUMMARY)}"
    if judgment.steering:
        yield (judgment.id,), f"attempts to steer the judge: {len(judgment.steering)}"
    for warning in judgment.warnings:
        yield (judgment.id,), f"warning {theirs(warning, LONGEST_WORDS)}"


def verdict_line(verdict: Verdict) -> str:
    """A verdict: what it says, its note, what it cites, and what the gate found."""
    return joined(
        f"criterion {theirs(verdict.criterion)}",
        verdict_word(verdict),
        f"note {theirs(verdict.note, LONGEST_NOTE)}",
        _cites((holding.citation.exhibit, holding.citation.quote) for holding in verdict.holdings if holding.standing),
        f"the gate found: {theirs(verdict.fault, LONGEST_WORDS)}" if verdict.fault else "",
    )


def verdict_word(verdict: Verdict) -> str:
    """Pass or fail, with the cause."""
    return "pass" if verdict.passed else f"fail, cause {verdict.cause or 'none'}"


def score_line(score: Score) -> str:
    """A score: its value, the reasoning, what it cites, and why it has none."""
    return joined(
        f"dimension {theirs(score.dimension)}",
        score_word(score),
        f"reasoning {theirs(score.reasoning, LONGEST_NOTE)}",
        _cites((holding.citation.exhibit, holding.citation.quote) for holding in score.holdings if holding.standing),
    )


def score_word(score: Score) -> str:
    """A score's value, or why it has none."""
    value = f"no value ({score.fault or 'not established'})" if score.value is None else f"value {score.value:g}"
    share = "" if score.share is None else f"share {score.share:g}"
    return joined(
        value, "worse than blameless" if score.worse else "not worse than blameless" * (score.value is not None), share
    )


def _cites(citations: Iterator[tuple[str, str]]) -> str:
    cited = [f"{theirs(exhibit)} {theirs(quote, LONGEST_QUOTE)}" for exhibit, quote in citations]
    more = f" and {len(cited) - MOST_CITED} more" if len(cited) > MOST_CITED else ""
    return f"cites {', '.join(cited[:MOST_CITED])}{more}" if cited else "cites nothing that holds"


def list_passes(source: Source, asked: ListPasses) -> Look:
    """A page of passes, the latest first."""
    return part([((), pass_line(row)) for row in source.store.passes.rows()], asked.offset, "passes")


def pass_line(row: PassRow) -> str:
    """What the tables know of a pass."""
    return joined(
        row.id,
        row.status,
        f"rubric {theirs(row.rubric)}",
        f"{row.judge} {theirs(row.model)}" if row.model else row.judge,
        f"{row.selected} selected",
        f"{row.landed} landed",
        f"{row.errored} without an answer",
        f"{row.empty} empty",
        money(row.cost),
        f"started {row.started}",
    )
