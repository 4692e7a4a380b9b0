"""The pages of rubrics: all of them, one with its versions and who used it, and one that is being written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import msgspec
from markupsafe import Markup

from adjudge.rubric import Criterion, Dimension, Rubric
from adjudge.rubric.values import CommandProbe, FileProbe, Scale
from adjudge.rubric.wording import Remark, check_rubric
from adjudge.rubric.writing import rubric_text
from adjudge.store.rows import JudgmentRow
from adjudge.store.rubrics import RubricRow
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.rubrics import SHOWN, RubricFacts, RubricList
from adjudge.web.text import Block, counted, diff_block, when

SHORT = 12
"""Characters of a hash that are shown."""
EARLIER = 6
"""Earlier versions of a name that a list links to."""

NEW = """name: my-rubric
criteria:
  - "`COMMAND` exits with status 0."
  - id: names-the-file
    text: "`PATH` contains `TEXT`."
"""


class Version(msgspec.Struct, frozen=True):
    """An earlier or later version, by its hash."""

    hash: str
    href: Markup
    added: str
    current: bool = False


class RubricLine(msgspec.Struct, frozen=True):
    """A name in the list, with its latest version and the earlier ones."""

    name: str
    href: Markup
    hash: str
    what: str
    judgments: str
    used: str
    added: str
    earlier: tuple[Version, ...]
    more: int


class RubricsPage(msgspec.Struct, frozen=True):
    """Everything on the page of all rubrics."""

    sentence: str
    kept: tuple[RubricLine, ...]
    shipped: tuple[RubricLine, ...]


def rubrics_page(listed: RubricList) -> RubricsPage:
    """The page of all rubrics."""
    names: dict[str, list[RubricRow]] = {}
    for row in listed.kept:
        names.setdefault(row.name, []).append(row)
    lines = tuple(_line(rows) for rows in names.values())
    used = sum(row.judgments > 0 for row in listed.kept)
    words = f"{counted(len(lines), 'rubric')} in {counted(len(listed.kept), 'version')}; {used:,} used by judgments."
    return RubricsPage(words, lines, tuple(_shipped(rubric) for rubric in listed.shipped))


def _line(rows: Sequence[RubricRow]) -> RubricLine:
    latest, *earlier = rows
    return RubricLine(
        latest.name,
        address("rubrics", latest.hash),
        latest.hash[:SHORT],
        _what(latest.criteria, latest.dimensions),
        f"{sum(row.judgments for row in rows):,}",
        _when(max((row.used for row in rows if row.used), default=None)),
        _when(latest.added),
        tuple(_version(row) for row in earlier[:EARLIER]),
        len(earlier[EARLIER:]),
    )


def _shipped(rubric: Rubric) -> RubricLine:
    what = _what(len(rubric.criteria), len(rubric.dimensions))
    return RubricLine(
        rubric.name, address("rubrics", rubric.hash), rubric.hash[:SHORT], what, "0", "", "with adjudge", (), 0
    )


def _version(row: RubricRow, current: str = "") -> Version:
    return Version(row.hash[:SHORT], address("rubrics", row.hash), _when(row.added), row.hash == current)


def _what(criteria: int, dimensions: int) -> str:
    return counted(dimensions, "dimension") if dimensions else counted(criteria, "criterion", "criteria")


def _when(time: str | None) -> str:
    return when(time, str(datetime.now(UTC).year))


# --- one rubric

Facts = tuple[tuple[str, str], ...]


class Item(msgspec.Struct, frozen=True):
    """A criterion or dimension, with what belongs to it and what could be put better."""

    id: str
    text: str
    facts: Facts
    remarks: tuple[tuple[str, str, str], ...]


class JudgmentLine(msgspec.Struct, frozen=True):
    """A judgment that used the rubric."""

    id: str
    href: Markup
    run: str
    judge: str
    model: str
    sign: str
    found: str
    when: str


class RubricPage(msgspec.Struct, frozen=True):
    """Everything on a rubric's page. `change` is what is new against the version `before`."""

    name: str
    hash: str
    sentence: str
    facts: Facts
    items: tuple[Item, ...]
    remarks: tuple[tuple[str, str, str], ...]
    text: str
    edit: Markup
    build: Markup | None
    versions: tuple[Version, ...]
    before: Version | None
    change: Block | None
    judgments: tuple[JudgmentLine, ...]
    more: int


def rubric_page(facts: RubricFacts, before: Rubric | None) -> RubricPage:
    """The page of a rubric; `before` is the version of its name that was kept before it."""
    rubric, row = facts.rubric, facts.row
    what = _what(len(rubric.criteria), len(rubric.dimensions))
    judgments = row.judgments if row else 0
    return RubricPage(
        name=row.name if row else rubric.name,
        hash=rubric.hash,
        sentence=f"{what}, {'used by ' + counted(judgments, 'judgment') if judgments else 'used by no judgment yet'}.",
        facts=tuple(_facts(facts)),
        items=tuple(_items(rubric)),
        remarks=tuple(_on(check_rubric(rubric), None)),
        text=rubric_text(rubric),
        edit=address("rubrics", rubric.hash, "edit"),
        build=address("build", rubric=rubric.hash) if rubric.criteria else None,
        versions=tuple(_version(each, rubric.hash) for each in facts.versions),
        before=next((_version(each) for each in facts.versions if before and each.hash == before.hash), None),
        change=diff_block(rubric_text(before), rubric_text(rubric)) if before else None,
        judgments=tuple(map(_judgment, facts.judgments)),
        more=max(0, judgments - SHOWN),
    )


def hash_before(facts: RubricFacts) -> str | None:
    """The hash of the version that was kept before this one."""
    return next((old.hash for new, old in pairwise(facts.versions) if new.hash == facts.rubric.hash), None)


def _facts(facts: RubricFacts) -> Iterator[tuple[str, str]]:
    rubric, row = facts.rubric, facts.row
    yield "sha-256", rubric.hash
    if rubric.version:
        yield "version", rubric.version
    yield "judged by", "the reader" if rubric.dimensions else "the evaluator"
    probes = sum(criterion.probe is not None for criterion in rubric.criteria)
    if probes:
        yield "probes", f"{probes:,} of them, decided without a model"
    yield "kept", _when(row.added) if row else "not in this store; it comes with adjudge"
    yield "last used", _when(row.used if row else None) or "never"


def _items(rubric: Rubric) -> Iterator[Item]:
    remarks = check_rubric(rubric)
    for criterion in rubric.criteria:
        yield Item(criterion.id, criterion.text, tuple(_of_criterion(criterion)), tuple(_on(remarks, criterion.id)))
    for dimension in rubric.dimensions:
        text = f"{dimension.description}\n\n{dimension.guidance}".strip()
        yield Item(dimension.id, text, tuple(_of_dimension(dimension)), tuple(_on(remarks, dimension.id)))


def _on(remarks: Sequence[Remark], item: str | None) -> Iterator[tuple[str, str, str]]:
    for remark in remarks:
        if (remark.criterion or remark.dimension) == item:
            yield remark.words, remark.wrong, remark.better


def _of_criterion(criterion: Criterion) -> Iterator[tuple[str, str]]:
    probe = criterion.probe
    if isinstance(probe, CommandProbe):
        wanted = [f"exits with {probe.exit}"]
        wanted += [f"prints {json.dumps(probe.stdout, ensure_ascii=False)}"] if probe.stdout is not None else []
        wanted += [f"prints what matches {probe.stdout_matches}"] if probe.stdout_matches is not None else []
        yield "probe", probe.run
        yield "it must", " and ".join(wanted) + (", among what the agent left running" if probe.live else "")
    elif isinstance(probe, FileProbe):
        yield "probe", f"the file {probe.file}"
        yield "it must", ", ".join(_of_file(probe))
    if criterion.about:
        yield "about", criterion.about


def _of_file(probe: FileProbe) -> Iterator[str]:
    if probe.exists is not None:
        yield "exist" if probe.exists else "not exist"
    if probe.equals is not None:
        yield f"equal {json.dumps(probe.equals, ensure_ascii=False)}"
    if probe.matches is not None:
        yield f"match {probe.matches}"


def _of_dimension(dimension: Dimension) -> Iterator[tuple[str, str]]:
    yield "scale", _scale(dimension.scale)
    yield "blameless", f"{dimension.baseline:g}, worse is {dimension.worse}"
    if dimension.not_findings:
        yield "no finding", "\n".join(dimension.not_findings)
    if dimension.causes:
        yield "causes", ", ".join(dimension.causes)


def _scale(scale: Scale) -> str:
    return f"{scale.least:g} to {scale.most:g}" + ("" if scale.whole else ", with fractions")


SIGNS: Mapping[str, str] = {"judged": "pass", "errored": "warn"}


def _judgment(row: JudgmentRow) -> JudgmentLine:
    found = f"{row.passed} of {row.criteria} pass" if row.criteria else f"{row.worse} of {row.dimensions} worse"
    failed = row.status != "judged"
    return JudgmentLine(
        row.id,
        of_run(row.run, judgment=row.id),
        row.run,
        row.judge,
        row.model or "no model",
        SIGNS.get(row.status, "none"),
        row.reason or "no verdict" if failed else "empty" if row.empty else found,
        _when(row.added),
    )
