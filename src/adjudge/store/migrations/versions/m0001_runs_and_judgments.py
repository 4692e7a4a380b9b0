"""The first tables: runs, rubrics, judgments, and who wrote them."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "stamps",
        sa.Column("revision", sa.String, nullable=False),
        sa.Column("adjudge", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.PrimaryKeyConstraint("revision", name="pk_stamps"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("blob", sa.String, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("format", sa.String, nullable=False),
        sa.Column("task", sa.String),
        sa.Column("agent", sa.String),
        sa.Column("agent_version", sa.String),
        sa.Column("model", sa.String),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("entries", sa.Integer, nullable=False),
        sa.Column("exit_status", sa.Integer),
        sa.Column("grade", sa.String),
        sa.Column("reward", sa.Float),
        sa.Column("detail", sa.String),
        sa.Column("workspace", sa.String),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_table(
        "rubrics",
        sa.Column("hash", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("blob", sa.String, nullable=False),
        sa.Column("name", sa.String, nullable=False),
        sa.Column("criteria", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_rubrics"),
    )
    op.create_table(
        "judgments",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("blob", sa.String, nullable=False),
        sa.Column("run", sa.String, nullable=False),
        sa.Column("rubric", sa.String),
        sa.Column("rubric_name", sa.String),
        sa.Column("judge", sa.String, nullable=False),
        sa.Column("model", sa.String),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("passed", sa.Integer, nullable=False),
        sa.Column("criteria", sa.Integer, nullable=False),
        sa.Column("reason", sa.String),
        sa.Column("started", sa.String, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("cost", sa.Float),
        sa.Column("workspace", sa.String),
        sa.PrimaryKeyConstraint("id", name="pk_judgments"),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_judgments_run"),
        sa.ForeignKeyConstraint(["rubric"], ["rubrics.hash"], name="fk_judgments_rubric"),
    )
    op.create_index("ix_judgments_run", "judgments", ["run"])
