"""A rubric: criteria that an evaluator answers, or dimensions that a reader scores.

`reading` takes it from a file, `wording` checks how criteria are put.
"""

from __future__ import annotations

from adjudge.rubric.values import (
    RATIO,
    SEVERITY,
    About,
    CommandProbe,
    Criterion,
    Dimension,
    FileProbe,
    Probe,
    Rubric,
    Scale,
    content_hash,
    hash_of_dimensions,
    rubric_hash,
)

__all__ = [
    "RATIO",
    "SEVERITY",
    "About",
    "CommandProbe",
    "Criterion",
    "Dimension",
    "FileProbe",
    "Probe",
    "Rubric",
    "Scale",
    "content_hash",
    "hash_of_dimensions",
    "rubric_hash",
]
