"""A table for the blobs of small judgments, so that a judgment and its row are one write, and a smaller index."""

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
    op.drop_index("ix_judgments_key", "judgments")
    hashes = sa.text("substr(rubric, 1, 16)"), sa.text("substr(judge_hash, 1, 16)")
    op.create_index("ix_judgments_key", "judgments", ["run", *hashes, "sample"], unique=True)
