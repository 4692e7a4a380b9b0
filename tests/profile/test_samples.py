"""Other people's recordings: all have a profile, their commands are split as tree-sitter's grammar splits them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.importers.sniff import read_runs
from adjudge.profile import Profile, profile, words
from adjudge.run import Run

from .oracle import names_by_grammar
from .test_shell import commands_of, names

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
SAMPLES = SHARED / "samples"

pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="ADJUDGE_SHARED names no folder with samples")


def runs() -> Iterator[Run]:
    """The runs of all samples in formats that are known by now, each once."""
    seen: set[str] = set()
    for path in sorted(path for path in SAMPLES.rglob("*") if path.is_file()):
        try:
            for run in read_runs(path):
                if run.id not in seen:
                    seen.add(run.id)
                    yield run
        except InputError:
            continue  # the importers' tests say which samples must be read


@cache
def profiles() -> list[Profile]:
    return [profile(run.record) for run in runs()]


def test_every_sample_has_a_profile_and_bounded_words() -> None:
    assert len(profiles()) > 50
    for found in profiles():
        assert sum(count for _, count in found.kinds) == found.calls
        assert len(words(found)) <= 4000


def test_few_calls_are_of_unknown_kind() -> None:
    """Those of project's own programs and of models that made up tools; it was one call in thirty when this was written."""
    counted: Counter[str] = Counter()
    for found in profiles():
        counted.update(dict(found.kinds))
    assert counted["unknown"] < 0.08 * counted.total()


def test_no_hint_is_raised_for_more_than_a_third_of_the_longer_runs() -> None:
    longer = [found for found in profiles() if found.calls >= 10]
    flagged = Counter(hint.name for found in longer for hint in found.hints if hint.flagged)
    assert {name: count for name, count in flagged.items() if count > len(longer) / 3} == {}
    assert {"failed_calls", "after_last_edit"}.isdisjoint(flagged)


def test_the_programs_of_the_samples_commands_are_those_of_the_grammar() -> None:
    """On 1,295 distinct commands that the grammar accepts all agreed, 14 more it does not accept."""
    calls = (entry for run in runs() for entry in run.record.walk() if entry.kind == "call")
    commands = {command for entry in calls for command in commands_of(entry.arguments or "")}
    judged = {command: names_by_grammar(command) for command in commands}
    valid = {command: expected for command, expected in judged.items() if expected is not None}
    wrong = [command for command, expected in valid.items() if names(command) != expected]
    assert len(valid) > 400
    assert len(wrong) <= len(valid) / 200
