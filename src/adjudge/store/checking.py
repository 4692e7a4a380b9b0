"""Checking a stored judgment again, from its row down to the last byte of the entries it may cite."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import zstandard

from adjudge.errors import OutsideError
from adjudge.judgment import Judgment
from adjudge.record import Record
from adjudge.store.records import records
from adjudge.store.review_checking import of_items, of_reviews
from adjudge.store.reviews import reviews_of
from adjudge.store.rows import prompt_tokens, scored
from adjudge.store.store import Store
from adjudge.verifying import Finding, Verification, verify


def verify_stored(store: Store, identifier: str) -> Verification:
    """Check a judgment as it is stored: its rows, its reviews, the blobs' hashes, then every citation, verdict and score.

    Raises:
        InputError: there is no such judgment, or a newer adjudge wrote it.
    """
    try:
        judgment = store.judgment(identifier)
        rubric = store.rubric(judgment.rubric_hash) if judgment.rubric_hash else None
        run = store.run(judgment.run)
    except OutsideError as error:  # without these nothing more can be checked
        return Verification(identifier, findings=(Finding("store", str(error)),))
    reviews = reviews_of(store, identifier)
    damage = [*_of_row(store, judgment), *of_items(store, judgment), *_of_record(run.record)]
    damage += of_reviews(judgment, rubric, reviews)
    checked = verify(judgment, run.record, rubric)
    return msgspec.structs.replace(checked, findings=(*damage, *checked.findings), reviews=len(reviews))


def _of_row(store: Store, judgment: Judgment) -> Iterator[Finding]:
    row = store.row(judgment.id)
    stored = {
        "run": (row.run, judgment.run),
        "rubric": (row.rubric_hash, judgment.rubric_hash),
        "status": (row.status, judgment.status),
        "score": (row.score, judgment.score),
        "passed": (row.passed, sum(verdict.passed for verdict in judgment.verdicts)),
        "criteria": (row.criteria, len(judgment.verdicts)),
        "model": (row.model, judgment.judge.model),
        "failure": (row.failure, judgment.failure),
        "scored": (row.scored, scored(judgment)),
        "dimensions": (row.dimensions, len(judgment.scores)),
        "worse": (row.worse, judgment.worse),
        "empty": (row.empty, judgment.empty),
        "prompt_tokens": (row.prompt_tokens, prompt_tokens(judgment)),
    }
    for name, (in_row, in_judgment) in stored.items():
        if in_row != in_judgment:
            yield Finding("row", f"{name} is {in_row!r} in the row and {in_judgment!r} in the judgment")


def _of_record(record: Record) -> Iterator[Finding]:
    """Every frame is read, also those that nothing cites."""
    for each in records(record):
        label = f"record of sub-agent {each.label}" if each is not record else "record"
        try:
            for _ in each.entries:
                pass
        except (OutsideError, zstandard.ZstdError, msgspec.DecodeError) as error:
            yield Finding(label, str(error))
