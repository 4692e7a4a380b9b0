"""What checking a judgment again finds."""

from __future__ import annotations

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it was stored.

    `place` is a criterion's or a dimension's id, or `score`, `rubric`, `looks` or `row`. The places of what lies deeper
    (`record`, `store`) are given by the store.
    """

    place: str
    words: str


class Verification(msgspec.Struct, frozen=True):
    """The result of checking a judgment again: how many verdicts, scores and citations were checked, and what was found.

    `holding` of the citations are stored as ones that hold; one that does not is no fault where nothing rests on it. The
    store, which has them, checks `reviews` too.
    """

    judgment: str
    verdicts: int = 0
    citations: int = 0
    findings: tuple[Finding, ...] = ()
    scores: int = 0
    holding: int = 0
    reviews: int = 0

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings
