"""What is written while a pass is under way: what is reserved for calls, and the judgments that land."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, bindparam, func, select

from adjudge.errors import InputError
from adjudge.store import judgment_blobs
from adjudge.store.deriving import put_off
from adjudge.store.judgment_blobs import Landing
from adjudge.store.schema import judgments, pass_runs, passes


class Reserving(msgspec.Struct, frozen=True):
    """What all calls for the run at a position, that have not landed, may cost together, in US dollars."""

    identifier: str
    position: int
    dollars: float


class Keeping(msgspec.Struct, frozen=True):
    """The judgment of the run at a position, and what its calls may have cost beyond what it knows of."""

    identifier: str
    position: int
    landing: Landing
    unseen: float


Step = Reserving | Keeping


def write_steps(connection: Connection, steps: Sequence[Step]) -> None:
    """Write them all; what follows from the judgments is put off.

    Raises:
        InputError: one of them keeps a judgment of a run that has another in its pass.
    """
    if reserving := [step for step in steps if isinstance(step, Reserving)]:
        connection.execute(_RESERVE, [_at(step) | {"dollars": step.dollars} for step in reserving])
    if keeping := [step for step in steps if isinstance(step, Keeping)]:
        _keep(connection, keeping)


def _keep(connection: Connection, keeping: Sequence[Keeping]) -> None:
    taken = connection.execute(_TAKE, [_at(step) | {"by": step.landing.values["id"]} for step in keeping])
    if taken.rowcount != len(keeping):
        _require_there(connection, keeping)  # a database that went away had kept them all before
        return
    landings = [step.landing for step in keeping]
    judgment_blobs.insert(connection, landings)
    put_off(connection, landings)
    if lost := [{"of_pass": step.identifier, "dollars": step.unseen} for step in keeping if step.unseen]:
        connection.execute(_LOSE, lost)


def _require_there(connection: Connection, keeping: Sequence[Keeping]) -> None:
    """Do nothing if these very judgments are there.

    Raises:
        InputError: one is not, so that its run must have another.
    """
    wanted = {str(step.landing.values["id"]) for step in keeping}
    there = connection.scalar(select(func.count()).where(judgments.c.id.in_(wanted)))
    if there != len(wanted):
        first = keeping[0]
        run = first.landing.values["run"]
        raise InputError(f"pass {first.identifier} has a judgment for run {run} already, or does not hold it")


def _at(step: Step) -> dict[str, object]:
    return {"of_pass": step.identifier, "at": step.position}


_ITEM = (pass_runs.c["pass"] == bindparam("of_pass"), pass_runs.c.position == bindparam("at"))
_RESERVE = pass_runs.update().where(*_ITEM).values(reserved=bindparam("dollars"))
_TAKE = pass_runs.update().where(*_ITEM, pass_runs.c.judgment.is_(None)).values(judgment=bindparam("by"), reserved=None)
_LOSE = passes.update().where(passes.c.id == bindparam("of_pass")).values(lost=passes.c.lost + bindparam("dollars"))
