"""Tables for passes and their lock, and what tells a judgment's judge from every other."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add them. Of the judgments that are there it is not known which identity judged."""
    for column in (sa.Column("pass", sa.String), sa.Column("judge_hash", sa.String), sa.Column("sample", sa.Integer)):
        op.add_column("judgments", column)
    op.create_index("ix_judgments_pass", "judgments", ["pass"])
    op.drop_index("ix_judgments_run", "judgments")  # the next one begins with the run as well
    op.create_index("ix_judgments_key", "judgments", ["run", "rubric", "judge_hash", "sample"], unique=True)
    _passes()
    op.create_table(
        "locks",
        sa.Column("name", sa.String, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("holder", sa.String),
        sa.Column("beat", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_locks"),
    )


def _passes() -> None:
    op.create_table(
        "passes",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("blob", sa.String, nullable=False),
        sa.Column("rubric", sa.String),
        sa.Column("rubric_name", sa.String),
        sa.Column("judge", sa.String, nullable=False),
        sa.Column("model", sa.String),
        sa.Column("judge_hash", sa.String, nullable=False),
        sa.Column("selected", sa.Integer, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("started", sa.String, nullable=False),
        sa.Column("ended", sa.String),
        sa.Column("lost", sa.Float, nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id", name="pk_passes"),
        sa.ForeignKeyConstraint(["rubric"], ["rubrics.hash"], name="fk_passes_rubric"),
    )
    op.create_table(
        "pass_runs",
        sa.Column("pass", sa.String, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("judgment", sa.String),
        sa.Column("reserved", sa.Float),
        sa.PrimaryKeyConstraint("pass", "position", name="pk_pass_runs"),
        sa.ForeignKeyConstraint(["pass"], ["passes.id"], name="fk_pass_runs_pass"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_pass_runs_run"),
    )
