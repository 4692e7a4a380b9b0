"""Runs side by side on one rubric, each with its judgment; and which runs of two agents can be put so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from adjudge.errors import InputError
from adjudge.exports.judged import Judged
from adjudge.judgment import Score, Verdict
from adjudge.passes.observing import Measure, Observation, Observed, measures_of
from adjudge.rubric import Rubric
from adjudge.store.rows import JudgmentRow
from adjudge.store.store import Store
from adjudge.web.queries.kept import KeptRuns, OpenRun

MOST_RUNS = 6
"""Runs that are put side by side."""


class BesideRun(msgspec.Struct, frozen=True):
    """A run, and its judgment with the rubric, `None` if it has none."""

    opened: OpenRun
    judged: Judged | None


class Beside(msgspec.Struct, frozen=True):
    """Runs side by side. `rubrics` are all with which one of them was judged, the one that most have in common first."""

    rubric: Rubric | None
    rubrics: tuple[tuple[str, str], ...]
    runs: tuple[BesideRun, ...]


class BesideJson(msgspec.Struct, frozen=True):
    """One of several runs side by side, as JSON."""

    run: str
    agent: str | None
    model: str | None
    task_name: str | None
    judgment: str | None
    verdicts: tuple[Verdict, ...]
    scores: tuple[Score, ...]


def beside(store: Store, kept: KeptRuns, names: Sequence[str], rubric: str | None) -> Beside:
    """These runs with the judgments that count, on the rubric of this hash or on the one that most of them share.

    Raises:
        InputError: a run is not there, there are too many of them, or none was judged with the rubric.
        OutsideError: a run or judgment is damaged, or cannot be read.
    """
    wanted = list(dict.fromkeys(names))
    if len(wanted) > MOST_RUNS:
        raise InputError(f"at most {MOST_RUNS} runs are put side by side, and these are {len(wanted)}: select fewer")
    opened = [kept.open(name) for name in wanted]
    rows = {name: _latest_by_rubric(store.judgments(name)) for name in wanted}
    rubrics = _shared(rows.values())
    if rubric is not None and rubric not in dict(rubrics):
        raise InputError(f"none of these runs was judged with a rubric {rubric[:12]!r}")
    chosen = rubric or next((hash for hash, _ in rubrics), None)
    found = store.rubric(chosen) if chosen else None
    judged = (rows[each.run.id].get(chosen or "") for each in opened)
    runs = (
        BesideRun(run, _judged(store, run, row.id if row else None, found)) for run, row in zip(opened, judged, strict=True)
    )
    return Beside(found, tuple(rubrics), tuple(runs))


def beside_judgments(store: Store, kept: KeptRuns, pair: Sequence[Observation], rubric: Rubric) -> Beside:
    """The runs of these observations with the very judgments that were observed."""
    opened = [(kept.open(each.run), each.judgment) for each in pair]
    runs = tuple(BesideRun(run, _judged(store, run, judgment, rubric)) for run, judgment in opened)
    return Beside(rubric, ((rubric.hash, rubric.name),), runs)


def as_json(found: Beside) -> list[BesideJson]:
    """What each run's judgment says, without its transcript."""
    return [
        BesideJson(
            each.opened.run.id,
            each.opened.run.agent,
            each.opened.run.model,
            each.opened.run.task_name,
            each.judged.judgment.id if each.judged else None,
            each.judged.judgment.verdicts if each.judged else (),
            each.judged.judgment.scores if each.judged else (),
        )
        for each in found.runs
    ]


def _latest_by_rubric(rows: Sequence[JudgmentRow]) -> dict[str, JudgmentRow]:
    """By rubric the latest judgment with an answer, else the latest; the rows come the latest first."""
    found: dict[str, JudgmentRow] = {}
    for row in sorted(rows, key=lambda row: row.status != "judged"):
        if row.rubric_hash:
            found.setdefault(row.rubric_hash, row)
    return found


def _shared(rows: Iterable[dict[str, JudgmentRow]]) -> list[tuple[str, str]]:
    """Hash and name of each rubric, the one with which most runs were judged first."""
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    for of_run in rows:
        for hash, row in of_run.items():
            counts[hash] = counts.get(hash, 0) + 1
            names[hash] = row.rubric or "unnamed"
    return [(hash, names[hash]) for hash in sorted(counts, key=lambda hash: -counts[hash])]


def _judged(store: Store, opened: OpenRun, judgment: str | None, rubric: Rubric | None) -> Judged | None:
    return None if judgment is None else Judged(store.judgment(judgment), opened.run, rubric)


# --- pairs of two agents' runs


class Pairing(msgspec.Struct, frozen=True):
    """A run of each of two agents, and what the judgments say of one item: 1 or 0 for a share, `None` for nothing.

    `same_task` is false where the agents have no task in common.
    """

    first: Observation
    second: Observation
    values: tuple[float | None, float | None]
    same_task: bool


def measure_at(observed: Observed, item: str) -> tuple[int, Measure]:
    """The measure that says pass or fail, or worse or not, of an item. Raises InputError if there is none."""
    for at, measure in enumerate(measures_of(observed.rubric)):
        if measure.item == item and measure.is_share:
            return at, measure
    raise InputError(f"rubric {observed.rubric.name} asks nothing called {item[:60]!r}")


def pairings(observed: Observed, item: str, first: str, second: str) -> list[Pairing]:
    """Runs of two agents at the same task, those first of which the item says different things.

    Raises:
        InputError: the rubric has no such item, or one of the agents no judged run.
    """
    at, _ = measure_at(observed, item)
    ours, theirs = ([each for each in observed.seen if each.who == name and each.values] for name in (first, second))
    for name, runs in ((first, ours), (second, theirs)):
        if not runs:
            raise InputError(f"there is no judged run of {name[:80]} here")
    found = [_pairing(left, right, at, True) for left, right in _of_same_task(ours, theirs)]
    found = found or [_pairing(left, right, at, False) for left, right in zip(ours, theirs, strict=False)]
    return sorted(found, key=lambda each: _ORDER.index(sort_of(each)))


def sort_of(pairing: Pairing) -> str:
    """Whether the two say `first`, `second`, `both` or `neither` of the item, or `unknown` where one says nothing."""
    left, right = pairing.values
    if left is None or right is None:
        return "unknown"
    return {(True, True): "both", (True, False): "first", (False, True): "second"}.get((left > 0, right > 0), "neither")


_ORDER = ("second", "first", "neither", "both", "unknown")


def _of_same_task(ours: Sequence[Observation], theirs: Sequence[Observation]) -> Iterator[tuple[Observation, Observation]]:
    by_task = {each.task: each for each in reversed(theirs)}
    seen = set[str]()
    for each in ours:
        if each.task in by_task and each.task not in seen:
            seen.add(each.task)
            yield each, by_task[each.task]


def _pairing(left: Observation, right: Observation, at: int, same_task: bool) -> Pairing:
    assert left.values is not None
    assert right.values is not None
    return Pairing(left, right, (left.values[at], right.values[at]), same_task)
