"""Our own recordings of agents that did what a script told them, so that everything in their profile is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.profile import Profile, profile, words

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures"


def profiles(path: str) -> Profile:
    (run,) = read_runs(FIXTURES / path)
    return profile(run.record)


def test_every_recording_has_a_profile() -> None:
    profiled = 0
    for run in read_runs(FIXTURES):
        found = profile(run.record)
        calls = sum(entry.kind == "call" and entry.origin != "copied" for entry in run.record.entries)
        assert sum(count for _, count in found.kinds) == found.calls == calls, run.source
        assert len(words(found)) <= 4000
        profiled += 1
    assert profiled >= 25


CLAUDE = "claude/claude-fix/cb7f73c6-380c-476e-8be9-7198a1e14293.jsonl"
CLAUDE_FAILS = "claude/claude-failcmd/77f171b8-8e30-4dca-83da-3d9552901df8.jsonl"
CODEX = "codex/codex-fix/rollout-2026-11-29T20-09-27-01a228ed-4261-7b03-b3c5-3704189fef25.jsonl"
CODEX_FAILS = "codex/codex-failcmd/rollout-2026-11-29T19-52-57-01a228de-290c-7882-a978-f6f48eeaee59.jsonl"
CODE_MODE_FAILS = "codex/codexjs-failcmd/rollout-2026-11-29T19-53-20-01a228de-7f85-73b3-8078-dd56ccdd47fc.jsonl"


@pytest.mark.parametrize(
    ("path", "calls", "failed", "prompt", "cached", "output"),
    [
        (CLAUDE, 4, 1, 10_000, 7_000, 210),
        (CLAUDE_FAILS, 6, 3, 17_500, 13_500, 301),
        (CODEX, 4, 1, 10_000, 7_000, 210),
        (CODEX_FAILS, 6, 3, 17_500, 13_500, 301),
        (CODE_MODE_FAILS, 6, 3, 17_500, 13_500, 301),
        ("mini/fix.traj.json", 5, 1, 10_000, 7_000, 210),
        ("mini/failcmd.traj.json", 7, 3, 17_500, 13_500, 301),
        ("opencode/failcmd.events.jsonl", 6, 3, 17_500, 13_500, 301),
    ],
)
def test_the_figures_are_those_of_the_script(
    path: str, calls: int, failed: int, prompt: int, cached: int, output: int
) -> None:
    found = profiles(path)
    ledger = found.ledger
    (failures,) = [hint.value for hint in found.hints if hint.name == "failed_calls"]
    assert (found.calls, failures) == (calls, failed)
    assert (ledger.prompt, ledger.cached, ledger.output) == (prompt, cached, output)
    assert ledger.cached_share == cached / prompt


@pytest.mark.parametrize("path", [CLAUDE, CODEX, "mini/fix.traj.json"])
def test_the_script_tests_reads_edits_and_tests_again(path: str) -> None:
    """Three agents with other tools: `python3 -m unittest`, the file, an edit, the tests; mini prints its ending."""
    kinds = dict(profiles(path).kinds)
    kinds.pop("print", None)
    assert kinds == {"test": 2, "read": 1, "edit": 1}


@pytest.mark.parametrize("path", [CLAUDE, CODEX, "mini/fix.traj.json"])
def test_one_call_with_tests_follows_the_edit_and_nothing_is_flagged(path: str) -> None:
    found = profiles(path)
    assert found.after_last_edit is not None
    assert (found.after_last_edit.turn, found.after_last_edit.tests) == (3, 1)
    assert [hint.name for hint in found.hints if hint.flagged] == []


def test_a_sub_agents_search_is_not_the_runs() -> None:
    found = profiles("claude/claude-sub/8b16e13b-3eea-4e3d-bc88-e7b50c9ab53e.jsonl")
    (child,) = found.children
    assert dict(found.kinds) == {"delegate": 1, "read": 1, "edit": 1, "test": 1}
    assert (child.name, dict(child.kinds)) == ("s1", {"search": 1})
