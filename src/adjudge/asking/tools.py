"""The tools of an asking: what each takes, and how a model is told so. All of them only read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from adjudge.asking import prompt
from adjudge.judges.evaluator.tools import schema_of
from adjudge.passes.results import By
from adjudge.ports import Tool
from adjudge.record import Kind
from adjudge.store.found import Property

_Offset = Annotated[int, Meta(ge=0, le=10**9, description="lines to skip, as an earlier page told you")]
_Characters = Annotated[int, Meta(ge=0, le=10**12, description="characters to skip, as an earlier page told you")]
_Words = Annotated[str, Meta(min_length=1, max_length=200)]
_Run = Annotated[str, Meta(max_length=40, description="a run's id, r-…")]
_Entry = Annotated[str, Meta(max_length=60, description="an entry's id, such as e12 or s1.e3")]
_Pattern = Annotated[str, Meta(min_length=1, max_length=1000, description="what to find; upper and lower case are alike")]
_IsRegex = Annotated[bool, Meta(description="whether the pattern is a regular expression")]
_Rubric = Annotated[str, Meta(max_length=100, description="a rubric's name, or the beginning of its hash")]
_Pass = Annotated[str, Meta(max_length=40, description="a pass's id, p-…")]


class _OfRuns(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which runs are meant."""

    agent: Annotated[_Words | None, Meta(description="only runs whose agent's name contains this")] = None
    model: Annotated[_Words | None, Meta(description="only runs whose agent's model contains this")] = None
    task: Annotated[_Words | None, Meta(description="only runs whose task's name or first line contains this")] = None
    outcome: Annotated[
        _Words | None, Meta(description="only this outcome: resolved, unresolved, error, failed: …, exit N or unknown")
    ] = None


class ListRuns(_OfRuns, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `list_runs`."""

    offset: _Offset = 0


class CountRuns(_OfRuns, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `count_runs`."""

    by: Annotated[tuple[Property, ...], Meta(max_length=4, description="properties by which the runs are split")] = ()
    offset: _Offset = 0


class ListEndings(_OfRuns, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `list_endings`."""

    offset: _Offset = 0


class ReadRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_run`."""

    run: _Run


class Outline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `outline`."""

    run: _Run
    offset: Annotated[int, Meta(ge=0, le=10**12, description="entries to skip, as an earlier page told you")] = 0


class ReadEntries(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_entries`."""

    run: _Run
    first: _Entry
    last: Annotated[_Entry | None, Meta(description="up to this entry; left out: only the first")] = None
    offset: Annotated[_Characters, Meta(description="characters of the first entry to skip")] = 0


class SearchRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `search_record`."""

    run: _Run
    pattern: _Pattern
    regex: _IsRegex = False
    kind: Annotated[Kind | None, Meta(description="only entries of this kind")] = None
    offset: Annotated[int, Meta(ge=0, le=10**12, description="matching entries to skip, as an earlier page told you")] = 0


class SearchRuns(_OfRuns, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `search_runs`."""

    pattern: _Pattern
    regex: _IsRegex = False
    kind: Annotated[Kind | None, Meta(description="only entries of this kind")] = None
    offset: Annotated[_Offset, Meta(description="matching runs to skip, as an earlier page told you")] = 0


class ListRubrics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `list_rubrics`."""

    rubric: Annotated[_Rubric | None, Meta(description="show this one's criteria or dimensions")] = None
    offset: _Offset = 0


class ListJudgments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `list_judgments`."""

    run: _Run | None = None
    rubric: _Rubric | None = None
    in_pass: _Pass | None = None
    status: Literal["judged", "errored"] | None = None
    offset: _Offset = 0


class FindVerdicts(_OfRuns, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of `find_verdicts`."""

    rubric: Annotated[_Rubric | None, Meta(description="judgments with this rubric; give this or in_pass")] = None
    in_pass: _Pass | None = None
    item: Annotated[str, Meta(max_length=200, description="the id of a criterion or dimension of the rubric")]
    found: Annotated[
        Literal["pass", "fail", "worse", "not worse", "no value"] | None,
        Meta(description="of a criterion pass or fail; of a dimension worse than blameless, not worse, or no value"),
    ] = None
    least: Annotated[float | None, Meta(description="of a dimension: only values from this on")] = None
    offset: _Offset = 0


class ReadJudgment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_judgment`."""

    judgment: Annotated[str, Meta(max_length=40, description="a judgment's id, j-…")]
    offset: _Offset = 0


class ListPasses(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `list_passes`."""

    offset: _Offset = 0


class PassResults(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `pass_results`."""

    of_pass: _Pass
    by: Annotated[tuple[By, ...], Meta(max_length=4, description="properties of the runs by which they are split")] = ()
    offset: _Offset = 0


class CompareAgents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `compare_agents`."""

    passes: Annotated[tuple[_Pass, ...], Meta(max_length=20)] = ()
    rubric: Annotated[_Rubric | None, Meta(description="in place of passes: all judgments with this rubric")] = None
    agents: Annotated[
        tuple[_Words, ...], Meta(max_length=10, description="only agents whose name or model contains one of these")
    ] = ()
    across_judges: Annotated[bool, Meta(description="compare although several judges judged")] = False
    offset: _Offset = 0


OfRuns = ListRuns | CountRuns | ListEndings | SearchRuns | FindVerdicts
Arguments = (
    ListRuns
    | CountRuns
    | ListEndings
    | ReadRun
    | Outline
    | ReadEntries
    | SearchRecord
    | SearchRuns
    | ListRubrics
    | ListJudgments
    | FindVerdicts
    | ReadJudgment
    | ListPasses
    | PassResults
    | CompareAgents
)

TOOLS: Mapping[str, type[Arguments]] = {
    "list_runs": ListRuns,
    "count_runs": CountRuns,
    "list_endings": ListEndings,
    "read_run": ReadRun,
    "outline": Outline,
    "read_entries": ReadEntries,
    "search_record": SearchRecord,
    "search_runs": SearchRuns,
    "list_rubrics": ListRubrics,
    "list_judgments": ListJudgments,
    "find_verdicts": FindVerdicts,
    "read_judgment": ReadJudgment,
    "list_passes": ListPasses,
    "pass_results": PassResults,
    "compare_agents": CompareAgents,
}
NAMES: Mapping[type[Arguments], str] = {kind: name for name, kind in TOOLS.items()}


def look_tools() -> tuple[Tool, ...]:
    """The tools, as a model is told of them."""
    return tuple(Tool(name, prompt.TOOLS[name], schema_of(kind)) for name, kind in TOOLS.items())
