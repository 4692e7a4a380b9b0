"""A judgment together with what it speaks of: what every export is made from."""

from __future__ import annotations

import msgspec

from adjudge.judgment import Judgment
from adjudge.rubric import Dimension, Rubric
from adjudge.run import Run


class Judged(msgspec.Struct, frozen=True):
    """A judgment, the run that was judged, and the rubric, which is `None` if there was none."""

    judgment: Judgment
    run: Run
    rubric: Rubric | None = None

    def criterion(self, identifier: str) -> str:
        """The text of a criterion, or its id where the rubric does not know it."""
        criteria = self.rubric.criteria if self.rubric else ()
        return next((criterion.text for criterion in criteria if criterion.id == identifier), identifier)

    def dimension(self, identifier: str) -> Dimension | None:
        """A dimension of the rubric, or `None` where it is not at hand or has none of this name."""
        dimensions = self.rubric.dimensions if self.rubric else ()
        return next((dimension for dimension in dimensions if dimension.id == identifier), None)
