"""Which runs a pass takes: a seeded draw from each stratum of harness × outcome.

Each run has a place in the draw that is a hash of the seed and its id. So a selection depends neither on the order in which
runs come nor on the runs of other strata, and a larger quota with the same seed contains the smaller one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from hashlib import blake2b

from adjudge.errors import InputError
from adjudge.passes.values import Candidate, Sampling, Selection, Stratum

LARGEST_SEED = 2**63 - 1
"""What a column of whole numbers in a database holds."""

_SHARE = re.compile(r"(\d{0,9}(?:\.\d{0,18})?) ?(%?)", re.ASCII)


def read_sampling(
    quota: int | None = None, share: str | None = None, always: Sequence[str] = (), seed: int = 0
) -> Sampling:
    """How to draw, from what a command line gives: `share` is a number below 1 or a percentage, as in `0.1` or `10%`.

    Raises:
        InputError: an option cannot be used; the message names it.
    """
    sampling = Sampling(quota, None if share is None else _read_share(share), tuple(always), seed)
    _require_usable(sampling)
    return sampling


def _read_share(text: str) -> float:
    right = "must be above 0 and at most all of a stratum, as in 0.1 or 10%"
    match = _SHARE.fullmatch(text.strip())
    if match is None or not any(map(str.isdigit, match[1])):
        raise InputError(f"--share {text}: {right}")
    value = Decimal(match[1])
    if not match[2] and value >= 1:
        raise InputError(f"--share {text}: a share of 1 or more needs a percent sign; {right}")
    return float(value / 100 if match[2] else value)


def _require_usable(sampling: Sampling) -> None:
    quota, share = sampling.quota, sampling.share
    if quota is not None and share is not None:
        raise InputError("--quota and --share both say how many runs of a stratum are drawn; give one of them")
    if quota is not None and quota < (0 if sampling.always else 1):
        raise InputError(f"--quota {quota}: must be a whole number from 1, or 0 to judge only the strata of --always")
    if share is not None and not 0 < share <= 1:
        raise InputError(f"--share {share:g}: must be above 0 and at most 1 (100%), as in 0.1 or 10%")
    if not 0 <= sampling.seed <= LARGEST_SEED:
        raise InputError(f"--seed {sampling.seed}: must be a whole number from 0 to {LARGEST_SEED}")
    for pattern in sampling.always:
        if not all(pattern.rpartition("/")):
            raise InputError(f"--always {pattern}: must be HARNESS/OUTCOME, as in '*/unresolved' or 'codex/exit 1'")


def select(candidates: Iterable[Candidate], sampling: Sampling, again: bool = False) -> Selection:
    """Draw from each stratum, and leave out afterwards what is judged already, unless `again`; each run may come once.

    Those already judged take part in the draw and count, so that a pass that is planned again adds nothing to its sample.

    Raises:
        InputError: the sampling cannot be used; the message names the option.
    """
    _require_usable(sampling)
    strata = _gathered(candidates)
    told: list[Stratum] = []
    runs: list[str] = []
    for harness, outcome in sorted(strata):
        stratum = strata[harness, outcome]
        size = len(stratum.runs)
        drawn = stratum.drawn(_wanted(harness, outcome, size, sampling), sampling.seed)
        runs += (left := [run for run in drawn if again or run not in stratum.judged])
        told.append(Stratum(harness, outcome, size, stratum.unrecorded, len(stratum.judged), len(left)))
    # The order is not the draw's, in which the runs of a large stratum with a small quota would all come first.
    runs.sort(key=_places(sampling.seed, b"order"))
    return Selection(tuple(runs), tuple(told))


def _gathered(candidates: Iterable[Candidate]) -> dict[tuple[str, str], _Gathered]:
    strata: dict[tuple[str, str], _Gathered] = {}
    for candidate in candidates:
        key = (candidate.harness, candidate.outcome)
        stratum = strata.get(key)
        if stratum is None:  # setdefault would make a new one for each of a million
            stratum = strata[key] = _Gathered()
        stratum.add(candidate)
    return strata


def unmatched(selection: Selection, sampling: Sampling) -> tuple[str, ...]:
    """The patterns of `always` that are of no stratum at all; they may be misspelt."""
    return tuple(
        pattern
        for pattern in sampling.always
        if not any(_is_of(pattern, stratum.harness, stratum.outcome) for stratum in selection.strata)
    )


class _Gathered:
    """The runs of one stratum, as they come."""

    def __init__(self) -> None:
        self.runs: list[str] = []
        self.judged: set[str] = set()
        self.unrecorded = 0

    def add(self, candidate: Candidate) -> None:
        if not candidate.recorded:
            self.unrecorded += 1
            return
        self.runs.append(candidate.run)
        if candidate.judged:
            self.judged.add(candidate.run)

    def drawn(self, wanted: int, seed: int) -> list[str]:
        """So many runs with the first places."""
        if wanted >= len(self.runs):
            return self.runs
        return sorted(self.runs, key=_places(seed, b"draw"))[:wanted]


def _wanted(harness: str, outcome: str, candidates: int, sampling: Sampling) -> int:
    if any(_is_of(pattern, harness, outcome) for pattern in sampling.always):
        return candidates
    if sampling.share is not None:
        # As it was written: in binary, 0.07 of 100 is more than 7.
        return math.ceil(Decimal(str(sampling.share)) * candidates)
    return candidates if sampling.quota is None else sampling.quota


def _is_of(pattern: str, harness: str, outcome: str) -> bool:
    # A harness may have a slash in its name, an outcome has none.
    harnesses, _, outcomes = pattern.rpartition("/")
    return fnmatchcase(harness, harnesses) and fnmatchcase(outcome, outcomes)


def _places(seed: int, purpose: bytes) -> Callable[[str], bytes]:
    """A run's place: a hash, the same on every machine, and so long that no two runs have one place."""
    seeded = blake2b(f"{seed} ".encode(), digest_size=16, person=purpose)

    def place(run: str) -> bytes:
        hashed = seeded.copy()
        hashed.update(run.encode())
        return hashed.digest()

    return place
