"""Tables for reviews, and for the verdicts and scores that can be reviewed."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add them. What was judged before is put into `judged_items` when it is asked for: that takes the blobs."""
    op.add_column("judgments", sa.Column("itemised", sa.Boolean, nullable=False, server_default=sa.false()))
    _index("ix_judgments_not_itemised", "judgments", ["id"], "NOT itemised")
    _items()
    _index("ix_judged_items_uncertainty", "judged_items", ["uncertainty", "judgment", "item"], "uncertainty > 0")
    _index("ix_judged_items_disagreement", "judged_items", ["disagreement", "judgment", "item"], "disagreement > 0")
    _reviews()
    op.create_index("ix_reviews_key", "reviews", ["judgment", "item", "reviewer", "number"], unique=True)
    op.create_index("ix_reviews_supersedes", "reviews", ["supersedes"], unique=True)


def _index(name: str, table: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _items() -> None:
    op.create_table(
        "judged_items",
        sa.Column("judgment", sa.String, nullable=False),
        sa.Column("item", sa.String, nullable=False),
        sa.Column("kind", sa.String, nullable=False),
        sa.Column("answer", sa.Float),
        sa.Column("worse", sa.Boolean),
        sa.Column("doubts", sa.Integer, nullable=False),
        sa.Column("uncertainty", sa.Integer, nullable=False),
        sa.Column("disagreement", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("judgment", "item", name="pk_judged_items"),
        sa.ForeignKeyConstraint(["judgment"], ["judgments.id"], name="fk_judged_items_judgment"),
        sqlite_with_rowid=False,
    )


def _reviews() -> None:
    op.create_table(
        "reviews",
        sa.Column("id", sa.String, nullable=False),
        sa.Column("added", sa.String, nullable=False),
        sa.Column("judgment", sa.String, nullable=False),
        sa.Column("item", sa.String, nullable=False),
        sa.Column("reviewer", sa.String, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("mode", sa.String, nullable=False),
        sa.Column("picked", sa.String, nullable=False),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("approved", sa.Boolean),
        sa.Column("passed", sa.Boolean),
        sa.Column("value", sa.Float),
        sa.Column("worse", sa.Boolean),
        sa.Column("supersedes", sa.String),
        sa.PrimaryKeyConstraint("id", name="pk_reviews"),
        sa.ForeignKeyConstraint(["judgment"], ["judgments.id"], name="fk_reviews_judgment"),
        sa.ForeignKeyConstraint(["supersedes"], ["reviews.id"], name="fk_reviews_supersedes"),
    )
