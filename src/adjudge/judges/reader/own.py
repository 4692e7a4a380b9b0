"""The reader's own rubric, for those who bring none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from adjudge.rubric import Rubric
from adjudge.rubric.reading import read_rubric


@cache
def own_rubric() -> Rubric:
    """Version 3 of our nine dimensions. Its source is no path, so that a row does not tell where adjudge lies."""
    return msgspec.structs.replace(read_rubric(Path(__file__).parent / "dimensions.yaml"), source="adjudge")
