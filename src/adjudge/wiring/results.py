"""Results of passes and comparisons of agents, from a store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from adjudge.errors import InputError
from adjudge.passes.comparing import AgentComparison, compare_agents, require_comparable
from adjudge.passes.detail import DetailedResults, detail_of
from adjudge.passes.observing import Observed, observations
from adjudge.passes.pairing import Wanted
from adjudge.passes.results import By, Results, results_of
from adjudge.passes.values import Stratum

if TYPE_CHECKING:
    from adjudge.store.judged import Scope
    from adjudge.store.store import Store


def pass_results(store: Store, identifier: str, by: Sequence[By]) -> Results:
    """What a pass came to, for the whole and by these properties of the runs.

    Raises:
        InputError: there is no such pass.
        OutsideError: a judgment is damaged, or cannot be read.
    """
    from adjudge.store.judged import of_pass

    row = store.passes.row(identifier)
    rubric = store.rubric(row.rubric_hash or "")
    return results_of(row, rubric, _unrecorded(store, identifier), of_pass(store, identifier), by)


def pass_in_detail(store: Store, identifier: str, by: Sequence[By]) -> DetailedResults:
    """What a pass came to, with the worst cases. Raises InputError and OutsideError as `pass_results`."""
    from adjudge.store.judged import Scope, judges_of, of_pass

    row = store.passes.row(identifier)
    rubric = store.rubric(row.rubric_hash or "")
    judges = tuple(judges_of(store, Scope(passes=(identifier,))))
    detail = detail_of(rubric, of_pass(store, identifier), by)
    return DetailedResults(row, rubric.name, rubric.hash, judges, _unrecorded(store, identifier), detail)


def rubric_in_detail(store: Store, rubric: str, judge: str | None, by: Sequence[By]) -> DetailedResults:
    """What all judgments with the rubric of this hash came to, or those by the judge of this hash alone.

    Raises:
        InputError: there is no such rubric.
        OutsideError: a judgment is damaged, or cannot be read.
    """
    from adjudge.store.judged import Scope, judges_of, latest_of_each_run

    found, scope = store.rubric(rubric), Scope(rubric=rubric, judge=judge)
    detail = detail_of(found, latest_of_each_run(store, scope), by)
    return DetailedResults(None, found.name, found.hash, tuple(judges_of(store, scope)), None, detail)


def _unrecorded(store: Store, identifier: str) -> int | None:
    """How many runs had no record when the pass was planned."""
    strata = store.passes.plan(identifier).plan.get("strata")
    return None if strata is None else sum(each.unrecorded for each in msgspec.convert(strata, tuple[Stratum, ...]))


def compare(
    store: Store, passes: Sequence[str], rubric: str | None, across_judges: bool = False, wanted: Wanted | None = None
) -> AgentComparison:
    """Compare agents over the judgments of passes, or over all with a rubric: a file, a name or the start of a hash.

    Raises:
        InputError: neither or both are given, there is nothing to compare, judgments differ in rubric or judge, or an
            agent is wanted that is not there.
        OutsideError: a judgment is damaged, or cannot be read.
    """
    from adjudge.store.judged import judges_of, latest_of_each_run

    scope = _scope(store, passes, rubric)
    judges = judges_of(store, scope)
    of_rubric = store.rubric(require_comparable(judges, across_judges))
    return compare_agents(of_rubric, judges, latest_of_each_run(store, scope), wanted or Wanted())


def observe(store: Store, scope: Scope, across_judges: bool = False) -> Observed:
    """What is observed of each run in scope, to compare agents by in several ways without reading judgments again.

    Raises:
        InputError: there is nothing to compare, or judgments differ in rubric or judge.
        OutsideError: a judgment is damaged, or cannot be read.
    """
    from adjudge.store.judged import judges_of, latest_of_each_run

    judges = judges_of(store, scope)
    rubric = store.rubric(require_comparable(judges, across_judges))
    return Observed(rubric, tuple(judges), tuple(observations(rubric, latest_of_each_run(store, scope))))


def _scope(store: Store, passes: Sequence[str], rubric: str | None) -> Scope:
    from adjudge.store.judged import Scope

    if bool(passes) == (rubric is not None):
        raise InputError("give passes, or --rubric for all judgments of the store with it")
    if rubric is None:
        return Scope(passes=tuple(store.passes.find(name) for name in passes))
    return Scope(rubric=stored_rubric(store, rubric))


def stored_rubric(store: Store, rubric: str) -> str:
    """The hash of the stored rubric that is meant.

    Raises:
        InputError: no stored rubric is, or several are.
    """
    from adjudge.rubric.reading import read_rubric
    from adjudge.store.judged import rubrics_of

    known = rubrics_of(store)
    wanted = read_rubric(Path(rubric)).hash if Path(rubric).is_file() else rubric
    found = [hash for hash, name in known if name == wanted or hash.startswith(wanted)]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(hash[:12] for hash in found)
        raise InputError(f"--rubric {rubric}: could be {names}: give the beginning of one's hash, or its file")
    raise InputError(
        f"--rubric {rubric}: no stored judgment was made with it; there are "
        + (", ".join(f"{name} ({hash[:12]})" for hash, name in known) or "none with a rubric")
    )
