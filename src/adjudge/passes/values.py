"""What is said of a pass before it starts: which runs it takes, and what it may cost."""

from __future__ import annotations

from typing import Literal

import msgspec


class Candidate(msgspec.Struct, frozen=True):
    """A stored run that a pass might take.

    `harness` is the agent's name or "unknown". `outcome` is the grade if the run was graded, else "failed: FAILURE",
    "exit STATUS" or "unknown". `judged` says that this very judge has a judgment of it with this rubric; without anything
    in its record (`recorded` is false) a run cannot be judged, which says nothing good of it.
    """

    run: str
    harness: str
    outcome: str
    turns: int
    judged: bool
    recorded: bool


class Sampling(msgspec.Struct, frozen=True):
    """How runs are drawn from each stratum: `quota` of them or a `share` (above 0, at most 1); with neither, all.

    `always` are patterns HARNESS/OUTCOME, as in `*/unresolved`, of strata that are taken whole.
    """

    quota: int | None
    share: float | None
    always: tuple[str, ...]
    seed: int


class Stratum(msgspec.Struct, frozen=True):
    """The runs with one harness and one outcome: `candidates` have a record, `unrecorded` more have none.

    `judged` of the candidates have a judgment already, whether or not they were drawn now. `selected` are to be judged:
    those drawn, without the ones among them that are judged.
    """

    harness: str
    outcome: str
    candidates: int
    unrecorded: int
    judged: int
    selected: int


class Selection(msgspec.Struct, frozen=True):
    """The runs to be judged, in a seeded order that mixes all strata: a pass that is stopped has judged a fair sample.

    `strata` are sorted by harness and outcome; what they say to be selected adds up to `runs`.
    """

    runs: tuple[str, ...]
    strata: tuple[Stratum, ...]


class Estimate(msgspec.Struct, frozen=True):
    """What `judgments` judgments may cost in US dollars; all three are `None` if nothing tells.

    The ground is `sampled` earlier rows (judgments) or prepared inputs, with `tokens_in` tokens sent for each on average.
    About nine of ten passes end between `least` and `most`. `priced` says that what a token costs is known.
    """

    judgments: int
    ground: Literal["rows", "prepared"]
    sampled: int
    tokens_in: float | None
    least: float | None
    likely: float | None
    most: float | None
    priced: bool
