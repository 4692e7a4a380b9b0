"""Who has been shown what the judge said of an item before they had reviewed it: their review of it is not blind."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "shown",
        *(sa.Column(name, sa.String, nullable=False) for name in ("judgment", "item", "reviewer")),
        sa.PrimaryKeyConstraint("judgment", "item", "reviewer", name="pk_shown"),
        sa.ForeignKeyConstraint(["judgment"], ["judgments.id"], name="fk_shown_judgment"),
    )
