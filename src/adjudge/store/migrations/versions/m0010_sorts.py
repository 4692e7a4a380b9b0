"""A list of runs is sorted by task, agent, model and outcome too, in every database in the order of bytes."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_TEXTS = ("agent", "model", "grade")


def upgrade() -> None:
    """Repeat what a task is called, and index what can be sorted by."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    by_bytes = sa.String(collation="C") if is_postgres else sa.String()
    op.add_column("standings", sa.Column("task", by_bytes))
    name = "SELECT substr(coalesce(nullif(task_name, ''), task), 1, 200) FROM runs WHERE runs.id = standings.run"
    op.execute(f"UPDATE standings SET task = ({name})")  # noqa: S608  all of this file
    for name in ("agent", "model"):
        op.drop_index(f"ix_standings_{name}", "standings")
    if is_postgres:
        for name in _TEXTS:
            op.alter_column("standings", name, type_=by_bytes)
    for name in ("task", *_TEXTS):
        op.create_index(f"ix_standings_{name}", "standings", [name, "run"])
