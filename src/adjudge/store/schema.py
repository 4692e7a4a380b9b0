"""The tables: small rows that point at blobs. Only what lists, selections and joins need stands in them."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    false,
    func,
    text,
)

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011")
"""Every revision of the schema that this adjudge knows, the latest last; the files are in `migrations/versions`."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
    }
)

stamps = Table(
    "stamps",
    metadata,
    Column("revision", String, primary_key=True),
    Column("adjudge", String, nullable=False),
    Column("added", String, nullable=False),
)
"""Which adjudge brought the store to which revision, and when."""

runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    Column("added", String, nullable=False),
    Column("blob", String, nullable=False),
    Column("source", String, nullable=False),
    Column("format", String, nullable=False),
    Column("task", String),
    Column("agent", String),
    Column("agent_version", String),
    Column("model", String),
    Column("turns", Integer, nullable=False),
    Column("entries", Integer, nullable=False),
    Column("exit_status", Integer),
    Column("grade", String),
    Column("reward", Float),
    Column("detail", String),
    Column("workspace", String),
    Column("failure", String),
    Column("machine", String),
    Column("task_name", String),
    Column("started", String),
    Column("seconds", Float),
    Column("cost", Float),
    Column("words", String),
)
"""The columns from `failure` on came with runs that adjudge starts itself.

`words` is what a list is searched in: the run's id, its task and its source in lower case.
"""

Index("ix_runs_words", runs.c.words, runs.c.id)

BY_BYTES = String().with_variant(String(collation="C"), "postgresql")
"""Text that each database sorts in the order of its bytes, as SQLite does anyway."""

standings = Table(
    "standings",
    metadata,
    Column("run", String, ForeignKey("runs.id"), primary_key=True),
    Column("added", String, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("cost", Float),
    Column("agent", BY_BYTES),
    Column("model", BY_BYTES),
    Column("grade", BY_BYTES),
    Column("state", String),
    Column("score", Float),
    Column("worse", Integer),
    Column("judging", Float),
    Column("flags", Integer, nullable=False, server_default="0"),
    Column("evaluation", String),
    Column("reading", String),
    Column("task", BY_BYTES),
)
"""A narrow row for each run: all that a list of many is filtered, sorted and counted by.

The columns up to `grade` repeat the run's row and never change; so does `task`, what the task is called in at most 200
characters. Those from `state` on say where the run stands, and change with its judgments (see `standing.py`); `evaluation`
and `reading` are the judgments that count.
"""

TALLIED = ("state", "grade", "flags", "score")
"""What a list counts by: an index holds just these, so that counting all reads nothing else."""

for _name in ("added", "turns", "cost", "task", "agent", "model", "grade"):
    Index(f"ix_standings_{_name}", standings.c[_name], standings.c.run)
Index("ix_standings_state", *(standings.c[name] for name in TALLIED))

task_of_run = func.coalesce(runs.c.task_name, runs.c.task)
"""What a run's task is called: its name, else its first line."""
Index("ix_runs_task", task_of_run)

rubrics = Table(
    "rubrics",
    metadata,
    Column("hash", String, primary_key=True),
    Column("added", String, nullable=False),
    Column("blob", String, nullable=False),
    Column("name", String, nullable=False),
    Column("criteria", Integer, nullable=False),
    Column("dimensions", Integer, nullable=False, server_default="0"),
)

judgments = Table(
    "judgments",
    metadata,
    Column("id", String, primary_key=True),
    Column("added", String, nullable=False),
    Column("blob", String, nullable=False),
    Column("run", String, ForeignKey("runs.id"), nullable=False),
    Column("rubric", String, ForeignKey("rubrics.hash")),
    Column("rubric_name", String),
    Column("judge", String, nullable=False),
    Column("model", String),
    Column("status", String, nullable=False),
    Column("score", Float),
    Column("passed", Integer, nullable=False),
    Column("criteria", Integer, nullable=False),
    Column("reason", String),
    Column("started", String, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("cost", Float),
    Column("workspace", String),
    Column("scored", Integer, nullable=False, server_default="0"),
    Column("dimensions", Integer, nullable=False, server_default="0"),
    Column("worse", Integer, nullable=False, server_default="0"),
    Column("empty", Boolean, nullable=False, server_default=false()),
    Column("decided", String),
    Column("failure", String),
    Column("prune", String),
    Column("characters", Integer),
    Column("prompt_tokens", Integer),
    Column("pass", String),
    Column("judge_hash", String),
    Column("sample", Integer),
    Column("blob_number", Integer),
    Column("itemised", Boolean, nullable=False, server_default=false()),
    Column("cells", String),
    Column("worst", String),
    Column("flags", Integer, nullable=False, server_default="0"),
)
"""`workspace` is a fingerprint of the run's folder, taken when the judgment landed (see `workspace.py`).

The columns from `scored` on came with the reader; in rows from before, `decided` is not known. Those from `pass` on came
with passes: the judge's identity as a hash, and which judgment by this judge with this rubric of this run it is, from 0 on.
`blob_number` leads to a blob that lies in `judgment_blobs`, and is NULL where it lies among the others.
`itemised` says that its verdicts or scores are in `judged_items`, or will be as soon as it is no longer `underived`.
Those from `cells` on are what a list of runs shows of a judgment (see `standing.py`); in rows from before they are empty.
"""

Index(None, judgments.c["pass"])

HASHED = 16
"""Characters of a hash that stand in an index: 64 bits, so that a page holds many and a judgment changes few pages."""

Index(
    "ix_judgments_key",
    judgments.c.run,
    func.substr(judgments.c.rubric, 1, HASHED),
    func.substr(judgments.c.judge_hash, 1, HASHED),
    judgments.c.sample,
    unique=True,
)

underived = Table(
    "underived",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("judgment", String, ForeignKey("judgments.id"), nullable=False),
)
"""The judgments of a pass from which nothing follows yet: neither their items are there, nor do their runs stand so.

They are few, numbered as they come and taken away again in moments (see `deriving.py`).
"""

judgment_blobs = Table(
    "judgment_blobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""The blobs of judgments that are small. They are numbered as they come, so that each is written behind the last."""

_some = text("NOT itemised")
Index("ix_judgments_not_itemised", judgments.c.id, sqlite_where=_some, postgresql_where=_some)

passes = Table(
    "passes",
    metadata,
    Column("id", String, primary_key=True),
    Column("added", String, nullable=False),
    Column("blob", String, nullable=False),
    Column("rubric", String, ForeignKey("rubrics.hash")),
    Column("rubric_name", String),
    Column("judge", String, nullable=False),
    Column("model", String),
    Column("judge_hash", String, nullable=False),
    Column("selected", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("reason", String),
    Column("started", String, nullable=False),
    Column("ended", String),
    Column("lost", Float, nullable=False, server_default="0"),
)
"""`lost` is in US dollars: what was reserved for calls of which nobody saw the end."""

pass_runs = Table(
    "pass_runs",
    metadata,
    Column("pass", String, ForeignKey("passes.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("run", String, ForeignKey("runs.id"), nullable=False),
    Column("judgment", String),
    Column("reserved", Float),
)
"""A pass's runs in the order in which they are judged. `reserved`, in US dollars, is for calls that may be under way."""

_UNDER_WAY = pass_runs.c.reserved.is_not(None)
Index("ix_pass_runs_under_way", pass_runs.c.run, sqlite_where=_UNDER_WAY, postgresql_where=_UNDER_WAY)

locks = Table(
    "locks",
    metadata,
    Column("name", String, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("holder", String),
    Column("beat", Float, nullable=False),
)
"""Who may write what only one may. `epoch` only grows; `holder` is JSON, NULL if nobody has it (see `locks.py`)."""

judged_items = Table(
    "judged_items",
    metadata,
    Column("judgment", String, ForeignKey("judgments.id"), primary_key=True),
    Column("item", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("answer", Float),
    Column("worse", Boolean),
    Column("doubts", Integer, nullable=False),
    Column("uncertainty", Integer, nullable=False),
    Column("disagreement", Float, nullable=False),
    sqlite_with_rowid=False,
)
"""A row for each verdict or score, made from the judgment's blob, so that reviews can be chosen and counted.

`kind` is `criterion` or `dimension`. `answer` is 1 for pass and 0 for fail, or the score's value; `worse` is a fail, or
worse than blameless; both are NULL where nothing is said. `doubts` counts what makes it uncertain by itself, `uncertainty`
is one more where the same judge answered otherwise in another judgment of this run. `disagreement` is how far the answers
to this item of this run are apart, between samples, judges and reviewers. The last two change as others answer.
"""

_some = text("uncertainty > 0")
Index(
    "ix_judged_items_uncertainty",
    *(judged_items.c[name] for name in ("uncertainty", "judgment", "item")),
    sqlite_where=_some,
    postgresql_where=_some,
)
_some = text("disagreement > 0")
Index(
    "ix_judged_items_disagreement",
    *(judged_items.c[name] for name in ("disagreement", "judgment", "item")),
    sqlite_where=_some,
    postgresql_where=_some,
)

reviews = Table(
    "reviews",
    metadata,
    Column("id", String, primary_key=True),
    Column("added", String, nullable=False),
    Column("judgment", String, ForeignKey("judgments.id"), nullable=False),
    Column("item", String, nullable=False),
    Column("reviewer", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("mode", String, nullable=False),
    Column("picked", String, nullable=False),
    Column("reason", String, nullable=False),
    Column("approved", Boolean),
    Column("passed", Boolean),
    Column("value", Float),
    Column("worse", Boolean),
    Column("supersedes", String, ForeignKey("reviews.id")),
)
"""What people say of judged items; rows are only added. `number` counts a reviewer's reviews of one item, from 0 on."""

shown = Table(
    "shown",
    metadata,
    Column("judgment", String, ForeignKey("judgments.id"), primary_key=True),
    Column("item", String, primary_key=True),
    Column("reviewer", String, primary_key=True),
)
"""Who was shown what the judge said of an item before they had said anything of it themselves."""

Index("ix_reviews_key", reviews.c.judgment, reviews.c.item, reviews.c.reviewer, reviews.c.number, unique=True)
Index("ix_reviews_supersedes", reviews.c.supersedes, unique=True)
