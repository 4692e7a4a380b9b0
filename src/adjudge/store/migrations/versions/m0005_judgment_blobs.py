"""A table for the blobs of small judgments, so that a judgment and its row are one write."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add it. The judgments that are there keep their blobs where they are."""
    op.create_table(
        "judgment_blobs",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_judgment_blobs"),
    )
    op.add_column("judgments", sa.Column("blob_number", sa.Integer))
