"""What must be stored before a judgment can be: its run and its rubric."""

from __future__ import annotations

from sqlalchemy import Connection, select

from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.store import rows, schema


def missing_rubric(connection: Connection, judgment: Judgment, rubric: Rubric | None) -> Rubric | None:
    """The rubric if it must be stored with the judgment.

    Raises:
        InputError: the judgment names a rubric that is neither stored nor handed over.
    """
    wanted = judgment.rubric_hash
    if wanted is None or rows.is_there(connection, schema.rubrics, wanted):
        return None
    if rubric is None or rubric.hash != wanted:
        raise InputError(
            f"judgment {judgment.id!r} was made with rubric {wanted!r}, which is not in the store: hand it over"
        )
    return rubric


def workspace_of(connection: Connection, judgment: Judgment) -> str | None:
    """The folder of the judged run.

    Raises:
        InputError: the run is not stored.
    """
    row = connection.execute(select(schema.runs.c.workspace).where(schema.runs.c.id == judgment.run)).one_or_none()
    if row is None:
        raise InputError(f"judgment {judgment.id!r} is of run {judgment.run!r}, which is not in the store: add it first")
    workspace: str | None = row[0]
    return workspace
