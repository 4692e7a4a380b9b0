"""Looks at a run's patch: a unified diff of what its agent changed, handed in with the record or made by us."""

from __future__ import annotations

import re

import msgspec

from adjudge.evidence import Look
from adjudge.judges.evaluator.tools import ReadPatch
from adjudge.judges.evaluator.views import count_lines, line_start, page_end


def read_patch(identifier: str, patch: str, asked: ReadPatch) -> Look:
    """A page of the patch, with what it changes in all."""
    start = line_start(patch, asked.offset)
    end = page_end(patch, start)
    facts = patch_facts(patch)
    if (start, end) != (0, len(patch)):
        facts.append(f"shown: {start} to {end}" + (f"; to go on: offset {end}" if end < len(patch) else ""))
    return Look(identifier, "read_patch", "files", msgspec.structs.asdict(asked), patch[start:end], tuple(facts))


def patch_facts(patch: str) -> list[str]:
    """The size of a patch, in bytes and lines, and how many files it changes."""
    size = len(patch.encode("utf-8", "replace"))
    return [f"size: {size} bytes", f"lines: {count_lines(patch)}", f"files changed: {changed_files(patch)}"]


_HUNK = re.compile(r"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")


def changed_files(patch: str) -> int:
    """How many files a unified diff changes, by its headers (Git's, if it has any).

    A hunk's header says how many lines of the old and the new file follow, so that a line of a file that looks like a
    header is not taken for one.
    """
    by_git = by_name = old = new = 0
    for line in patch.split("\n"):
        mark = line[:1] or " "
        if (old > 0 or new > 0) and mark in " +-\\":
            old, new = old - (mark in " -"), new - (mark in " +")
        elif hunk := _HUNK.match(line):
            old, new = (int(number or 1) for number in hunk.groups())
        else:
            by_git += line.startswith("diff --git ")
            by_name += line.startswith("+++ ")
            old = new = 0
    return by_git or by_name
