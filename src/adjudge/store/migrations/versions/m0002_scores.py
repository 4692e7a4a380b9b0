"""Columns for a reader's judgments: what was scored, how it came about, and what its input taught about token counts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns. Rows that are there are an evaluator's: they have no scores, and nothing is known of the rest."""
    op.add_column("rubrics", sa.Column("dimensions", sa.Integer, nullable=False, server_default="0"))
    for name in ("scored", "dimensions", "worse"):
        op.add_column("judgments", sa.Column(name, sa.Integer, nullable=False, server_default="0"))
    op.add_column("judgments", sa.Column("empty", sa.Boolean, nullable=False, server_default=sa.false()))
    for name in ("decided", "failure", "prune"):
        op.add_column("judgments", sa.Column(name, sa.String))
    for name in ("characters", "prompt_tokens"):
        op.add_column("judgments", sa.Column(name, sa.Integer))
