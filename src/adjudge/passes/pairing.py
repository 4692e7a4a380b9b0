"""Which agents are put side by side: all, those that are named, or those of which the most is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from adjudge.errors import InputError
from adjudge.untrusted import one_line

SHOWN = 60
"""Characters of an agent's name that are printed."""

FEW = 2
"""Judged runs of an agent under which its pairs are the first to be left out where there are many."""

Pair = tuple[str, str]
"""The names of two agents."""


class Wanted(msgspec.Struct, frozen=True):
    """Which pairs are compared: all of them, or those among `agents`, or each agent's with the one it is held `against`.

    Agents are named as they are stored or as they are printed. Of more than `most` pairs, unless `agents` are named, those
    are left out in which an agent has fewer than `FEW` judged runs, then those with the fewest.
    """

    agents: tuple[str, ...] = ()
    against: str | None = None
    most: int | None = None


def chosen(known: Sequence[str], wanted: Wanted) -> tuple[list[str], list[Pair]]:
    """The agents that are wanted, and the pairs of them.

    Raises:
        InputError: an agent is wanted that is not there, or one alone; the message names those that are.
    """
    listed = {_named("--agent", name, known) for name in wanted.agents}
    names = [name for name in known if name in listed] if listed else list(known)
    if wanted.against is not None:
        one = _named("--against", wanted.against, known)
        others = [name for name in names if name != one]
        return [*others, one], [(other, one) for other in others]
    if len(listed) == 1:
        raise InputError(f"--agent {wanted.agents[0]}: is one agent; name another, or one with --against")
    return names, list(combinations(names, 2))


def _named(option: str, name: str, known: Sequence[str]) -> str:
    """The agent that is meant, by its name or by what is printed of it."""
    found = [each for each in known if name in (each, one_line(each, SHOWN))]
    if len(found) != 1:
        there = ", ".join(one_line(each, SHOWN) for each in known)
        raise InputError(
            f"{option} {name}: {'no' if not found else 'more than one'} agent has this name; there are {there}"
        )
    return found[0]


def weightiest(pairs: Sequence[Pair], judged: Mapping[str, int], most: int | None) -> list[Pair]:
    """At most so many pairs, in the order they came, by how many runs of each agent are judged.

    If there are more, those stay that have the most on the side that has fewer, and `FEW` at least.
    """
    if most is None or len(pairs) <= most:
        return list(pairs)
    weights = {pair: min(judged[name] for name in pair) for pair in pairs}
    enough = [pair for pair in pairs if weights[pair] >= FEW]
    kept = set(sorted(enough, key=lambda pair: -weights[pair])[:most])
    return [pair for pair in enough if pair in kept]
