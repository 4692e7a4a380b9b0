"""What runs of an agent have cost, for an estimate of the next."""

from __future__ import annotations

from statistics import fmean

import msgspec
from sqlalchemy import select

from adjudge.store.schema import runs
from adjudge.store.store import Store

MOST = 50
"""Runs that are looked at, the latest ones."""


class Spent(msgspec.Struct, frozen=True):
    """The mean cost of so many runs in US dollars."""

    runs: int
    mean: float


def spent_by(store: Store, agent: str, model: str | None) -> Spent | None:
    """What the latest runs of an agent with a model cost, `None` if the cost of none is known."""
    same = runs.c.model == model if model else runs.c.model.is_(None)
    query = select(runs.c.cost).where(runs.c.agent == agent, same, runs.c.cost.is_not(None))
    with store.reading() as connection:
        costs = [float(row[0]) for row in connection.execute(query.order_by(runs.c.added.desc()).limit(MOST))]
    return Spent(len(costs), fmean(costs)) if costs else None
