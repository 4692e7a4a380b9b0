"""Rows: what lists print without opening a blob, and the queries that give them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, String, Table, and_, func, select

from adjudge.errors import InputError
from adjudge.judgment import Failure, Judgment, Status
from adjudge.rubric import Rubric
from adjudge.run import Grade, Outcome, Run
from adjudge.store.schema import judgments, runs
from adjudge.store.standing import shown_of
from adjudge.untrusted import first_line

NAMED = 6
"""Candidates that a message names."""
SEARCHED = 500
"""Characters of a run's id, task and source in which a list searches."""
LEARNED = 500
"""Judgments of a model from which the size of its tokens is learned: what a provider counts may change."""


class RunRow(msgspec.Struct, frozen=True):
    """A stored run as a list shows it. `task` is its first line, cut; `task_name` have runs that adjudge started.

    What stands from `status` to `empty` is of its latest judgment. `worse` is how many dimensions a reader found worse than
    blameless, and `empty` that none has a value; both are `None` where no reader judged.
    """

    id: str
    added: str
    agent: str | None
    model: str | None
    task: str | None
    format: str
    turns: int
    entries: int
    outcome: Outcome
    judgments: int
    status: Status | None
    score: float | None
    worse: int | None
    empty: bool | None
    task_name: str | None = None


class JudgmentRow(msgspec.Struct, frozen=True):
    """A stored judgment as a list shows it. `rubric` is its name; `passed` of `criteria` verdicts are passes.

    Of a reader `scored` of `dimensions` scores have a value, none if it is `empty`, and `worse` of them are worse than
    blameless; `prune` is the mode that was used.
    `characters` is the size of its first request and `prompt_tokens` what the provider counted for that, `None` where it
    did not, or where more than one request may be in the count.
    """

    id: str
    added: str
    run: str
    rubric: str | None
    rubric_hash: str | None
    judge: str
    model: str | None
    status: Status
    score: float | None
    passed: int
    criteria: int
    reason: str | None
    started: str
    seconds: float
    cost: float | None
    scored: int
    dimensions: int
    worse: int
    empty: bool
    decided: str | None
    failure: Failure | None
    prune: str | None
    characters: int | None
    prompt_tokens: int | None


def run_rows(connection: Connection) -> list[RunRow]:
    """All runs, the latest first."""
    latest = select(
        judgments.c.run,
        judgments.c.status,
        judgments.c.score,
        judgments.c.judge,
        judgments.c.worse,
        judgments.c.empty,
        func.count().over(partition_by=judgments.c.run).label("judgments"),
        func.row_number()
        .over(partition_by=judgments.c.run, order_by=(judgments.c.added.desc(), judgments.c.id))
        .label("place"),
    ).subquery()
    query = (
        select(*(runs.c[name] for name in _OF_RUN), *(latest.c[name] for name in _OF_LATEST))
        .outerjoin(latest, and_(latest.c.run == runs.c.id, latest.c.place == 1))
        .order_by(runs.c.added.desc(), runs.c.id)
    )
    return [_run_row(row._mapping) for row in connection.execute(query)]


_OF_RUN = (
    *("id", "added", "agent", "model", "task", "format", "turns", "entries", "task_name"),
    *("exit_status", "grade", "reward", "detail", "failure"),
)
_OF_LATEST = ("judgments", "status", "score", "judge", "worse", "empty")


def _run_row(row: Mapping[Any, Any]) -> RunRow:
    grade: Grade | None = row["grade"]
    read = row["judge"] == "reader" and row["status"] == "judged"
    return RunRow(
        id=row["id"],
        added=row["added"],
        agent=row["agent"],
        model=row["model"],
        task=row["task"],
        format=row["format"],
        turns=row["turns"],
        entries=row["entries"],
        outcome=Outcome(row["exit_status"], grade, row["reward"], row["detail"], row["failure"]),
        judgments=row["judgments"] or 0,
        status=row["status"],
        score=row["score"],
        worse=row["worse"] if read else None,
        empty=row["empty"] if read else None,
        task_name=row["task_name"],
    )


def judgment_rows(connection: Connection, run: str | None = None) -> list[JudgmentRow]:
    """All judgments, or those of a run, the latest first."""
    query = select(judgments).order_by(judgments.c.added.desc(), judgments.c.id)
    if run is not None:
        query = query.where(judgments.c.run == run)
    return [judgment_row(row._mapping) for row in connection.execute(query)]


def calibration_pairs(connection: Connection, model: str) -> list[tuple[int, int]]:
    """The sizes of the latest requests to a model, in characters and in tokens as its provider counted them."""
    sizes = select(judgments.c.characters, judgments.c.prompt_tokens).where(
        judgments.c.model == model, judgments.c.characters > 0, judgments.c.prompt_tokens > 0
    )
    query = sizes.order_by(judgments.c.added.desc(), judgments.c.id).limit(LEARNED)
    return [(int(row[0]), int(row[1])) for row in connection.execute(query)]


def judgment_row(row: Mapping[Any, Any]) -> JudgmentRow:
    """The value of a row."""
    names = {"rubric": "rubric_name", "rubric_hash": "rubric"}
    return JudgmentRow(**{name: row[names.get(name, name)] for name in JudgmentRow.__struct_fields__})


def values_of_run(run: Run, blob: str) -> dict[str, Any]:
    """The columns of a run."""
    return {
        "id": run.id,
        "added": now(),
        "blob": blob,
        "source": plain(run.source),
        "format": plain(run.record.format),
        "task": _first_line(run.task),
        "agent": plain(run.agent),
        "agent_version": plain(run.agent_version),
        "model": plain(run.model),
        "turns": len(run.record.turns),
        "entries": len(run.record.entries),
        "exit_status": small(run.outcome.exit_status),
        "grade": run.outcome.grade,
        "reward": run.outcome.reward,
        "detail": plain(run.outcome.detail),
        "workspace": plain(run.workspace),
        "failure": run.outcome.failure,
        "machine": plain(run.machine),
        "task_name": plain(run.task_name),
        "started": run.started,
        "seconds": run.seconds,
        "cost": run.cost,
        "words": _words(run),
    }


def _words(run: Run) -> str:
    parts = (run.id, run.task_name, _first_line(run.task), run.source)
    return str(plain(" ".join(part for part in parts if part).lower()))[:SEARCHED]


def values_of_judgment(judgment: Judgment, blob: str, workspace: str | None) -> dict[str, Any]:
    """The columns of a judgment; `workspace` is the fingerprint of its run's folder."""
    prepared = judgment.prepared
    return {
        "id": judgment.id,
        "added": now(),
        "blob": blob,
        "run": judgment.run,
        "rubric": judgment.rubric_hash,
        "rubric_name": plain(judgment.rubric),
        "judge": judgment.judge.kind,
        "model": plain(judgment.judge.model),
        "status": judgment.status,
        "score": judgment.score,
        "passed": sum(verdict.passed for verdict in judgment.verdicts),
        "criteria": len(judgment.verdicts),
        "reason": plain(judgment.reason),
        "started": judgment.started,
        "seconds": judgment.seconds,
        "cost": judgment.usage().cost,
        "workspace": workspace,
        "scored": scored(judgment),
        "dimensions": len(judgment.scores),
        "worse": judgment.worse,
        "empty": judgment.empty,
        "decided": judgment.decided,
        "failure": judgment.failure,
        "prune": prepared.mode if prepared else None,
        "characters": prepared.characters if prepared else None,
        "prompt_tokens": prompt_tokens(judgment),
        "judge_hash": judgment.judge.hash,
        **shown_of(judgment),
    }


def scored(judgment: Judgment) -> int:
    """How many of its dimensions have a value."""
    return sum(score.value is not None for score in judgment.scores)


def prompt_tokens(judgment: Judgment) -> int | None:
    """What the provider counted for a reader's request, if it was asked once and nothing else can be in the count."""
    if judgment.prepared is None or len(judgment.calls) != 1:
        return None
    (call,) = judgment.calls
    tokens = call.usage.prompt
    return None if tokens is None or call.estimated or call.attempts != 1 or not 0 < tokens < 2**31 else tokens


def values_of_rubric(rubric: Rubric, blob: str) -> dict[str, Any]:
    """The columns of a rubric."""
    return {
        "hash": rubric.hash,
        "added": now(),
        "blob": blob,
        "name": plain(rubric.name),
        "criteria": len(rubric.criteria),
        "dimensions": len(rubric.dimensions),
    }


def blob_of(connection: Connection, table: Table, key: str, what: str) -> str:
    """The name of the blob that a row points to.

    Raises:
        InputError: there is no such row.
    """
    column = next(iter(table.primary_key))
    name = connection.scalar(select(table.c.blob).where(column == key))
    if name is None:
        raise InputError(f"there is no {what} {key!r} in the store")
    return str(name)


def has_runs(connection: Connection) -> bool:
    """Whether there is any run."""
    return connection.scalar(select(runs.c.id).limit(1)) is not None


def is_there(connection: Connection, table: Table, key: str) -> bool:
    """Whether there is a row with this key."""
    column = next(iter(table.primary_key))
    return connection.scalar(select(column).where(column == key)) is not None


def found(connection: Connection, table: Table, prefix: str, what: str) -> str:
    """The one key that begins with the prefix, or is it.

    Raises:
        InputError: none does, or several; the message names them.
    """
    prefix = str(plain(prefix))
    if is_there(connection, table, prefix):
        return prefix
    candidates = [str(row[0]) for row in connection.execute(_beginning(table, prefix))]
    if not candidates:
        raise InputError(f"there is no {what} {prefix!r} in the store")
    if len(candidates) > 1:
        names = ", ".join(candidates[:NAMED]) + (", …" if len(candidates) > NAMED else "")
        raise InputError(f"{what} {prefix!r} could be {names}: give more of its id")
    return candidates[0]


def _beginning(table: Table, prefix: str) -> Select[str]:
    key: ColumnElement[str] = next(iter(table.primary_key))
    starts = key.cast(String).startswith(prefix, autoescape=True)
    return select(key).where(starts).order_by(key).limit(NAMED + 1)


def now() -> str:
    """This moment in UTC, as it is written in rows; later moments sort later."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def plain(text: str | None) -> str | None:
    """Text as every database takes it: no NUL, no lone surrogate. The blob keeps it as it was."""
    if text is None:
        return None
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def small(number: int | None) -> int | None:
    """A number that fits every database's integers, or `None`: an exit status of Windows may not. The blob keeps it."""
    return number if number is not None and -(2**31) <= number < 2**31 else None


def _first_line(task: str | None) -> str | None:
    """As a list may show it: cut after masking, since half a credential is not recognised as one."""
    return plain(first_line(task or "", 200))
