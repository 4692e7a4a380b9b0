"""Where a run stands, in a narrow row of its own: a judgment that lands rewrites neither a run's row nor its indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_OF_RUN = ("added", "turns", "cost", "agent", "model", "grade")
_STANDS = ("state", "score", "worse", "judging", "flags", "evaluation", "reading")


def upgrade() -> None:
    """Move what the runs' rows say of it; what a list shows besides stands in the judgments' rows."""
    op.create_table(
        "standings",
        sa.Column("run", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float),
        *(sa.Column(name, sa.String) for name in ("agent", "model", "grade", "state")),
        sa.Column("score", sa.Float),
        sa.Column("worse", sa.Integer),
        sa.Column("judging", sa.Float),
        sa.Column("flags", sa.Integer, nullable=False, server_default="0"),
        *(sa.Column(name, sa.String) for name in ("evaluation", "reading")),
        sa.PrimaryKeyConstraint("run", name="pk_standings"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_standings_run"),
    )
    columns = ", ".join((*_OF_RUN, *_STANDS))
    op.execute(f"INSERT INTO standings (run, {columns}) SELECT id, {columns} FROM runs")  # noqa: S608  all of this file
    _leave_runs()
    _index()
    _put_off()


def _leave_runs() -> None:
    for name in ("added", "turns", "cost", "judging", "score", "worse", "state", "agent", "model", "words"):
        op.drop_index(f"ix_runs_{name}", "runs")
    for name in (*_STANDS, "passed", "criteria", "cells", "worst"):
        op.drop_column("runs", name)
    op.create_index("ix_runs_words", "runs", ["words", "id"])


def _index() -> None:
    for name in ("added", "turns", "cost"):
        op.create_index(f"ix_standings_{name}", "standings", [name, "run"])
    for name in ("agent", "model"):
        op.create_index(f"ix_standings_{name}", "standings", [name])
    op.create_index("ix_standings_state", "standings", ["state", "grade", "flags", "score"])


def _put_off() -> None:
    op.create_table(
        "underived",
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("judgment", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_underived"),
        sa.ForeignKeyConstraint(["judgment"], ["judgments.id"], name="fk_underived_judgment"),
    )
