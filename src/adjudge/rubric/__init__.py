"""A rubric: the criteria that an evaluator answers, true or false; reading it from a file, and checking its wording."""

from __future__ import annotations

from adjudge.rubric.reading import read_rubric
from adjudge.rubric.values import About, CommandProbe, Criterion, FileProbe, Probe, Rubric, rubric_hash
from adjudge.rubric.wording import Remark, check_rubric

__all__ = [
    "About",
    "CommandProbe",
    "Criterion",
    "FileProbe",
    "Probe",
    "Remark",
    "Rubric",
    "check_rubric",
    "read_rubric",
    "rubric_hash",
]
