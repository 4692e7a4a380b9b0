"""A rubric: the criteria that an evaluator answers. `reading` takes it from a file, `wording` checks how it is put."""

from __future__ import annotations

from adjudge.rubric.values import About, CommandProbe, Criterion, FileProbe, Probe, Rubric, rubric_hash

__all__ = ["About", "CommandProbe", "Criterion", "FileProbe", "Probe", "Rubric", "rubric_hash"]
