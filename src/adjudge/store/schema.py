"""The tables: small rows that point at blobs. Only what lists, selections and joins need stands in them."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, false, func

REVISIONS = ("0001", "0002", "0003", "0004", "0005")
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
)
"""The columns from `failure` on came with runs that adjudge starts itself."""

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
)
"""`workspace` is a fingerprint of the run's folder, taken when the judgment landed (see `workspace.py`).

The columns from `scored` on came with the reader; in rows from before, `decided` is not known. Those from `pass` on came
with passes: the judge's identity as a hash, and which judgment by this judge with this rubric of this run it is, from 0 on.
`blob_number` leads to a blob that lies in `judgment_blobs`, and is NULL where it lies among the others.
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

judgment_blobs = Table(
    "judgment_blobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("data", LargeBinary, nullable=False),
)
"""The blobs of judgments that are small. They are numbered as they come, so that each is written behind the last."""

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

locks = Table(
    "locks",
    metadata,
    Column("name", String, primary_key=True),
    Column("epoch", Integer, nullable=False),
    Column("holder", String),
    Column("beat", Float, nullable=False),
)
"""Who may write what only one may. `epoch` only grows; `holder` is JSON, NULL if nobody has it (see `locks.py`)."""
