"""Columns for runs that adjudge started itself: why they failed whatever the exit status, when, how long, and where."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the columns. Nothing of this is known of the rows that are there."""
    for name in ("failure", "machine", "task_name", "started"):
        op.add_column("runs", sa.Column(name, sa.String))
    for name in ("seconds", "cost"):
        op.add_column("runs", sa.Column(name, sa.Float))
