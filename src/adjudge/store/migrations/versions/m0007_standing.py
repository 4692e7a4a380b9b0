"""Where a run stands, in its own row, so that a list of many runs is sorted, filtered and counted without a join."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_BEST = "ORDER BY (j.status = 'judged') DESC, j.added DESC, j.id LIMIT 1"


def upgrade() -> None:
    """Add the columns, and fill what the rows tell: which judgments stand, and what they came to.

    Of judgments that are there the cells, the worst dimension and the flags stand only in their blobs, and stay unknown.
    """
    for name in ("evaluation", "reading", "state", "cells", "worst", "words"):
        op.add_column("runs", sa.Column(name, sa.String))
    for name in ("passed", "criteria", "worse"):
        op.add_column("runs", sa.Column(name, sa.Integer))
    for name in ("score", "judging"):
        op.add_column("runs", sa.Column(name, sa.Float))
    for name in ("cells", "worst"):
        op.add_column("judgments", sa.Column(name, sa.String))
    for table in ("runs", "judgments"):
        op.add_column(table, sa.Column("flags", sa.Integer, nullable=False, server_default="0"))
    _fill()
    _index()
    under_way = sa.text("reserved IS NOT NULL")
    op.create_index("ix_pass_runs_under_way", "pass_runs", ["run"], sqlite_where=under_way, postgresql_where=under_way)


def _index() -> None:
    tallied = ["state", "grade", "flags", "score"]
    for name in ("added", "turns", "cost", "judging", "score", "worse"):
        op.create_index(f"ix_runs_{name}", "runs", [name, "id"])
    op.create_index("ix_runs_state", "runs", tallied)
    for name in ("agent", "model"):
        op.create_index(f"ix_runs_{name}", "runs", [name, *tallied])
    op.create_index("ix_runs_words", "runs", ["words", *tallied, "id"])


def _fill() -> None:
    first = "SELECT j.id FROM judgments j WHERE j.run = runs.id AND j.judge"
    text = "id || ' ' || coalesce(task_name, '') || ' ' || coalesce(task, '') || ' ' || source"
    _set(evaluation=f"({first} <> 'reader' {_BEST})", reading=f"({first} = 'reader' {_BEST})")
    _set(judging="(SELECT sum(j.cost) FROM judgments j WHERE j.run = runs.id)", words=f"substr(lower({text}), 1, 500)")
    judged = "FROM judgments j WHERE j.id = runs.evaluation AND j.status = 'judged'"
    _set(**{name: f"(SELECT j.{name} {judged})" for name in ("score", "passed", "criteria")})
    _set(worse="(SELECT j.worse FROM judgments j WHERE j.id = runs.reading AND j.status = 'judged' AND NOT j.empty)")
    stands = "EXISTS (SELECT 1 FROM judgments j WHERE j.id IN (runs.evaluation, runs.reading)"
    _set(
        state=f"CASE WHEN {stands} AND j.status = 'judged' AND NOT j.empty) THEN 'judged'"
        f" WHEN {stands} AND j.status = 'judged') THEN 'empty' WHEN {stands}) THEN 'errored' END"
    )


def _set(**columns: str) -> None:
    values = ", ".join(f"{name} = {expression}" for name, expression in columns.items())
    op.execute(f"UPDATE runs SET {values}")  # noqa: S608  every word is of this file
