"""Hints: what in a run may have been waste, with the turns. They are computed by rules and are no verdicts.

The thresholds, and the corrections that are built into the rules, come from 96 public recordings with at least ten calls,
whose findings were looked at one by one. A rule that was wrong half of the time gives a figure and raises no flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from adjudge.profile.actions import Action
from adjudge.profile.ledger import Ledger
from adjudge.profile.repeats import Repeats, loops
from adjudge.profile.work import EDITS, READS, TESTS, Work

Name = Literal[
    "large_prompts",
    "cached_share",
    "large_outputs",
    "unbounded_reads",
    "repeated_reads",
    "test_reruns",
    "duplicate_calls",
    "loops",
    "error_runs",
    "failed_calls",
    "after_last_edit",
]

LARGE, HUGE = 20_000, 50_000
"""Characters of an output that are much; one call in 33 of those measured brought more, and one in 250."""
LISTED = 5
"""Largest outputs that are listed, and things that a hint is about."""

_RULES_OF_A_PROJECT = frozenset({"AGENTS.md", "CLAUDE.md", "GEMINI.md", "copilot-instructions.md", ".cursorrules"})


class Hint(msgspec.Struct, frozen=True):
    """One hint: a value, the threshold at which it is flagged (`None`: never), and one sentence in plain words.

    `value` is `None` where the recording does not tell. `turns` are those it counts, `about` files and commands of theirs,
    as they stand in the record and therefore untrusted.
    """

    name: Name
    value: float | None
    threshold: float | None
    flagged: bool
    turns: tuple[int, ...]
    says: str
    about: tuple[str, ...] = ()


class AfterLastEdit(msgspec.Struct, frozen=True):
    """What followed the last edit, up to the user's next message: calls by kind, and the part of all calls and tokens.

    The whole is what followed the user's message in answer to which the edit was made. Checking is no waste.
    """

    turn: int
    calls: int
    tests: int
    reads: int
    others: int
    share_of_calls: float
    share_of_tokens: float | None


def hints_of(actions: Sequence[Action], ledger: Ledger, after: AfterLastEdit | None) -> tuple[Hint, ...]:
    """All hints, those that find nothing as well."""
    return (
        _large_prompts(ledger),
        _cached_share(ledger),
        *_of_results(actions),
        _loops(actions),
        _error_runs(actions),
        _failed_calls(actions),
        _after_last_edit(after),
    )


def _turns(actions: Iterable[Action]) -> tuple[int, ...]:
    return tuple(sorted({action.turn for action in actions}))


def _some(things: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(thing for thing in things if thing))[:LISTED]


def _about(actions: Iterable[Action]) -> tuple[str, ...]:
    return _some(action.command or " ".join((action.tool, *action.paths)) for action in actions)


# --- tokens


def _large_prompts(ledger: Ledger) -> Hint:
    most = 100_000
    if ledger.prompts is None:
        return Hint("large_prompts", None, most, False, (), "The recording does not tell how large the prompts were.")
    large = tuple(spend.turn for spend in ledger.by_turn if (spend.prompt or 0) > most)
    p95 = ledger.prompts.p95
    says = f"95 in 100 prompts had at most {p95:,} tokens; {len(large)} had more than {most:,}."
    return Hint("large_prompts", p95, most, p95 > most, large, says)


def _cached_share(ledger: Ledger) -> Hint:
    least, share = 0.5, ledger.cached_share
    if share is None:
        return Hint("cached_share", None, least, False, (), "The recording does not tell what came from a cache.")
    says = f"{share:.0%} of the tokens sent came from a cache, over {ledger.told} prompts."
    return Hint("cached_share", share, least, share < least and ledger.told >= 10, (), says)


# --- what came back


def _of_results(actions: Sequence[Action]) -> Iterable[Hint]:
    """The hints that need results; without any they say so."""
    if any(action.size is not None for action in actions) or not actions:
        repeats = Repeats(actions)
        yield from (
            _large_outputs(actions),
            _unbounded_reads(actions),
            _repeated_reads(repeats.reads),
            _test_reruns(repeats.tests),
            _duplicate_calls(repeats.calls),
        )
        return
    thresholds: dict[Name, int] = {
        "large_outputs": 3,
        "unbounded_reads": 1,
        "repeated_reads": 3,
        "test_reruns": 1,
        "duplicate_calls": 2,
    }
    for name, threshold in thresholds.items():
        yield Hint(name, None, threshold, False, (), "The recording has no results of calls.")


def _large_outputs(actions: Sequence[Action]) -> Hint:
    large = sorted((action for action in actions if (action.size or 0) > LARGE), key=lambda action: -(action.size or 0))
    flagged = len(large) >= 3 or any((action.size or 0) > HUGE for action in large)
    says = f"{_times(len(large), 'call')} brought more than {LARGE:,} characters"
    says += f"; the largest brought {large[0].size:,}." if large else "."
    return Hint("large_outputs", len(large), 3, flagged, _turns(large), says, _about(large))


def _unbounded_reads(actions: Sequence[Action]) -> Hint:
    found = [
        (action, read.path)
        for action in actions
        if (action.size or 0) > LARGE
        for read in action.reads[:1]
        if read.whole and read.path.rpartition("/")[2] not in _RULES_OF_A_PROJECT
    ]
    says = f"{_times(len(found), 'read')} of a whole file brought more than {LARGE:,} characters."
    turns = _turns(action for action, _ in found)
    return Hint("unbounded_reads", len(found), 1, bool(found), turns, says, _some(path for _, path in found))


def _repeated_reads(found: Sequence[tuple[Action, str]]) -> Hint:
    says = (
        f"{_times(len(found), 'read')} showed lines of a file that had been shown before; no change to it was seen between."
    )
    turns = _turns(action for action, _ in found)
    return Hint("repeated_reads", len(found), 3, len(found) >= 3, turns, says, _some(path for _, path in found))


def _test_reruns(found: Sequence[Action]) -> Hint:
    says = f"{_times(len(found), 'call')} ran the same tests again; no change was seen between."
    return Hint("test_reruns", len(found), 1, bool(found), _turns(found), says, _about(found))


def _duplicate_calls(found: Sequence[Action]) -> Hint:
    says = f"{_times(len(found), 'call')} equalled an earlier one and brought the same; no change was seen between."
    return Hint("duplicate_calls", len(found), 2, len(found) >= 2, _turns(found), says, _about(found))


# --- sequences


def _loops(actions: Sequence[Action]) -> Hint:
    found = loops(actions)
    inside = [action for stretch in found for action in stretch]
    says = (
        f"{_times(len(found), 'time')} the same call, or the same two or three in turn, came three times in a row or more."
    )
    return Hint("loops", len(found), 1, bool(found), _turns(inside), says, _about(inside))


def _error_runs(actions: Sequence[Action]) -> Hint:
    told = any(action.failed is not None for action in actions)
    if not told and actions:
        return Hint("error_runs", None, 1, False, (), "The recording does not tell which calls failed.")
    runs: list[list[Action]] = [[]]
    for action in actions:
        if action.failed:
            runs[-1].append(action)
        elif runs[-1]:
            runs.append([])
    long = [action for run in runs if len(run) >= 4 for action in run]
    count = sum(len(run) >= 4 for run in runs)
    says = f"{_times(count, 'time')} four calls or more in a row failed; the environment may have caused it."
    return Hint("error_runs", count, 1, count > 0, _turns(long), says, _about(long))


def _failed_calls(actions: Sequence[Action]) -> Hint:
    told = [action for action in actions if action.failed is not None]
    failed = [action for action in told if action.failed]
    if not told:
        return Hint("failed_calls", None, None, False, (), "The recording does not tell which calls failed.")
    says = f"{len(failed)} of {_times(len(told), 'call')} whose ending the recording tells failed."
    return Hint("failed_calls", len(failed), None, False, _turns(failed), says)


# --- after the last edit

_LOOKING: frozenset[Work] = READS | {"search", "list"}


def _is_edit(action: Action) -> bool:
    return any(facet.kind in EDITS for facet in action.changing) and action.changes


def after_last_edit(actions: Sequence[Action], ledger: Ledger) -> AfterLastEdit | None:
    """What followed the last edit before the user spoke again, `None` if there was no edit."""
    last = next((place for place in range(len(actions) - 1, -1, -1) if _is_edit(actions[place])), None)
    if last is None:
        return None
    edit = actions[last]
    answering = [action for action in actions if action.asking == edit.asking]
    later = [action for action in actions[last + 1 :] if action.asking == edit.asking]
    tests = sum(action.does(TESTS) for action in later)
    reads = sum(action.does(_LOOKING) and not action.does(TESTS) for action in later)
    end = max((action.turn for action in answering), default=edit.turn)
    return AfterLastEdit(
        turn=edit.turn,
        calls=len(later),
        tests=tests,
        reads=reads,
        others=len(later) - tests - reads,
        share_of_calls=len(later) / len(answering),
        share_of_tokens=_share_of_tokens(ledger, answering[0].turn, edit.turn, end),
    )


def _share_of_tokens(ledger: Ledger, first: int, edit: int, last: int) -> float | None:
    """The part of the tokens of these turns that was spent after the edit's."""
    spends = [each for each in ledger.by_turn if first <= each.turn <= last and each.prompt is not None]
    whole = sum((each.prompt or 0) + (each.output or 0) for each in spends)
    after = sum((each.prompt or 0) + (each.output or 0) for each in spends if each.turn > edit)
    return after / whole if whole else None


def _after_last_edit(after: AfterLastEdit | None) -> Hint:
    if after is None:
        return Hint("after_last_edit", None, None, False, (), "No edit was seen.")
    share = f"{after.share_of_calls:.0%} of those since the user spoke"
    if after.share_of_tokens is not None:
        share += f", and {after.share_of_tokens:.0%} of the tokens"
    says = (
        f"After the last edit came {_times(after.calls, 'call')} ({share}): {after.tests} with tests, "
        f"{after.reads} that read or searched, {after.others} others; checking is no waste."
    )
    return Hint("after_last_edit", after.calls, None, False, (after.turn,), says)


def _times(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"
