"""Rubrics as pages and the API give them: kept and shipped, the versions of a name, and a text being written."""

from __future__ import annotations

from pathlib import Path

import msgspec

from adjudge.errors import InputError
from adjudge.rubric import Rubric
from adjudge.rubric.places import line_of, lines_of
from adjudge.rubric.reading import parse_rubric
from adjudge.rubric.wording import check_rubric
from adjudge.store.rows import JudgmentRow
from adjudge.store.rubrics import RubricRow, judgments_with, keep_rubric, rubric_rows
from adjudge.store.store import Store
from adjudge.untrusted import shown
from adjudge.wiring.inputs import known_rubric, shipped_rubrics

FILE = Path("rubric.yaml")
"""What a text is called in messages about it."""
LONGEST = 200_000
"""Characters of a text that is checked or kept."""
SHOWN = 50
"""Judgments that are listed of one rubric."""


class RubricList(msgspec.Struct, frozen=True):
    """The rubrics of the store, the latest first, and those of adjudge that are not among them."""

    kept: tuple[RubricRow, ...]
    shipped: tuple[Rubric, ...]


class RubricFacts(msgspec.Struct, frozen=True):
    """A rubric with what is around it. `row` is `None` of one that is not stored; `versions` have its name."""

    rubric: Rubric
    row: RubricRow | None
    versions: tuple[RubricRow, ...]
    judgments: tuple[JudgmentRow, ...]


class RubricFault(msgspec.Struct, frozen=True):
    """Why a text is no rubric, as a page may show it, and the line that is meant, if one is."""

    words: str
    line: int | None


class RubricRemark(msgspec.Struct, frozen=True):
    """What could be put better: in which criterion or dimension (none: in the whole), at which words, and how."""

    item: str | None
    line: int | None
    words: str
    wrong: str
    better: str


class RubricCheck(msgspec.Struct, frozen=True):
    """What a text says, or why it says nothing. `known` is the hash's row or shipped rubric, by its name, if it has one."""

    fault: RubricFault | None = None
    name: str = ""
    hash: str = ""
    criteria: int = 0
    dimensions: int = 0
    version: str | None = None
    remarks: tuple[RubricRemark, ...] = ()
    known: str | None = None


def rubrics_in(store: Store) -> RubricList:
    """All rubrics that can be used."""
    kept = tuple(rubric_rows(store))
    hashes = {row.hash for row in kept}
    return RubricList(kept, tuple(rubric for rubric in shipped_rubrics() if rubric.hash not in hashes))


def rubric_facts(store: Store, hash: str) -> RubricFacts:
    """A rubric by its hash. Raises InputError and OutsideError as `wiring.inputs.known_rubric`."""
    rubric = known_rubric(hash, store)
    rows = rubric_rows(store)
    row = next((row for row in rows if row.hash == hash), None)
    name = row.name if row else rubric.name
    versions = tuple(each for each in rows if each.name == name)
    return RubricFacts(rubric, row, versions, tuple(judgments_with(store, hash, SHOWN)))


def checked(store: Store, text: str) -> RubricCheck:
    """What a text says as a rubric. What is wrong with it is told, not raised."""
    try:
        rubric = parse_rubric(FILE, text)
    except InputError as error:
        return RubricCheck(RubricFault(shown(str(error)), line_of(str(error), text)))
    return RubricCheck(
        None,
        shown(rubric.name),
        rubric.hash,
        len(rubric.criteria),
        len(rubric.dimensions),
        rubric.version,
        _remarks(rubric, text),
        _known(store, rubric.hash),
    )


def keep(store: Store, text: str) -> Rubric:
    """Keep the rubric that a text says; one of the same content and name that is there stays as it is.

    Raises:
        InputError: it says none, or its content is kept under another name.
        OutsideError: it could not be kept.
    """
    rubric = parse_rubric(FILE, text)
    if not keep_rubric(store, rubric) and (kept := store.rubric(rubric.hash)).name != rubric.name:
        raise InputError(
            f"{FILE}: the same criteria or dimensions are kept as {kept.name!r} ({rubric.hash[:12]}) already; a rubric "
            "that is kept is never changed, its name neither"
        )
    return rubric


def _remarks(rubric: Rubric, text: str) -> tuple[RubricRemark, ...]:
    items = [*(each.id for each in rubric.criteria), *(each.id for each in rubric.dimensions)]
    lines = dict(zip(items, lines_of(text), strict=False))
    found = []
    for remark in check_rubric(rubric):
        item = remark.criterion or remark.dimension
        found.append(RubricRemark(item, lines.get(item or ""), shown(remark.words), remark.wrong, remark.better))
    return tuple(found)


def _known(store: Store, hash: str) -> str | None:
    try:
        return shown(known_rubric(hash, store).name)
    except InputError:
        return None
