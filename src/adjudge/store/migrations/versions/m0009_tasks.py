"""An index over what tasks are called, so that a list offers them and finds the runs of one."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_runs_task", "runs", [sa.text("coalesce(task_name, task)")])
