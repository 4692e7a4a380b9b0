"""The golden runs with what a reader should say of each: `golden_cases()`.

A case is a run folder under `bench/golden`; its `expected.yaml` is read and checked here, and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import msgspec
import yaml

from adjudge.errors import InputError

FOLDER = Path(__file__).parent / "golden"

Dimension = Literal[
    "contamination",
    "hallucination",
    "tool_efficiency",
    "loop",
    "environment_problem",
    "gave_up_early",
    "test_gaming",
    "problem_misread",
    "token_efficiency",
]
Topic = Literal[
    "contamination",
    "test gaming",
    "hallucinated test result",
    "loop",
    "gave up early",
    "environment problem",
    "problem misread",
]

DIMENSION_OF: dict[Topic, Dimension] = {
    "contamination": "contamination",
    "test gaming": "test_gaming",
    "hallucinated test result": "hallucination",
    "loop": "loop",
    "gave up early": "gave_up_early",
    "environment problem": "environment_problem",
    "problem misread": "problem_misread",
}
"""The dimension that shows what a case is about."""


def baseline(dimension: Dimension) -> float:
    """The blameless value."""
    return 1 if dimension == "tool_efficiency" else 0


class CitedTurn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A turn that shows a score, and words that stand in one of its entries (white space folded)."""

    turn: int
    quote: str


class ExpectedScore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a good reader says of a dimension, and the lowest and highest value that is accepted.

    For `token_efficiency` the value is the severity, and `share` the accepted share that could have been avoided. `turns`
    are the ones that show it; a reader that cites any of them has found it.
    """

    value: float
    range: tuple[float, float]
    why: str
    turns: tuple[CitedTurn, ...] = ()
    share: tuple[float, float] | None = None


class GoldenCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One run. `seeded` tells whether the agent does what the topic says, or is the honest twin of the one that does.

    `dimensions` has all nine; `None` where either answer would do, which is not to be judged. `hidden_tests` are ids of
    tests that had to pass, were absent at the base commit and that the agent never saw.
    """

    number: str
    topic: Topic
    seeded: bool
    twin: str
    format: str
    turns: int
    made_from: str
    hidden_tests: tuple[str, ...]
    dimensions: dict[Dimension, ExpectedScore | None]

    @property
    def folder(self) -> Path:
        """The run folder, for `read_runs`."""
        return FOLDER / self.number


def golden_cases(folder: Path = FOLDER) -> list[GoldenCase]:
    """All cases, by number.

    Raises:
        InputError: an `expected.yaml` is not as it must be; the message names the file, the place and what is wrong.
    """
    cases = [_read(path) for path in sorted(folder.glob("*/expected.yaml"))]
    _check_twins(folder, {case.number: case for case in cases})
    return cases


def _read(path: Path) -> GoldenCase:
    try:
        value = yaml.safe_load(path.read_text("utf-8"))
        case = msgspec.convert({"number": path.parent.name, **value}, GoldenCase)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, msgspec.ValidationError) as error:
        raise InputError(f"{path}: {error}") from error
    missing = sorted(set(get_args(Dimension)) - set(case.dimensions))
    if missing:
        raise InputError(f"{path}: dimensions: must have all nine (null where not judged); without {', '.join(missing)}")
    for name, expected in case.dimensions.items():
        if expected is not None and (fault := _fault(name, expected, case)):
            raise InputError(f"{path}: dimensions.{name}: {fault}")
    return case


def _fault(name: Dimension, expected: ExpectedScore, case: GoldenCase) -> str | None:
    """What is wrong with an expected score, if anything is."""
    low, high = expected.range
    top = 1 if name == "tool_efficiency" else 3
    blameless = low <= baseline(name) <= high
    about = name == DIMENSION_OF[case.topic]
    if not 0 <= low <= expected.value <= high <= top:
        return f"value and range must fit each other and the scale 0 to {top}, got {expected.value} in {low} to {high}"
    if (expected.share is None) == (name == "token_efficiency"):
        return "token_efficiency, and no other dimension, must have a share"
    if any(not 1 <= cited.turn <= case.turns or not cited.quote.strip() for cited in expected.turns):
        return f"each cited turn must be one of 1 to {case.turns} and have a quote"
    if not blameless and not expected.turns:
        return "must cite a turn, since it is worse than the blameless value"
    if about and case.seeded == blameless:
        return f"is what the case is about, so its range must {'not ' if case.seeded else ''}have the blameless value in it"
    return None


def _check_twins(folder: Path, cases: dict[str, GoldenCase]) -> None:
    for case in cases.values():
        other = cases.get(case.twin)
        if other is None or (other.twin, other.topic, other.seeded) != (case.number, case.topic, not case.seeded):
            raise InputError(
                f"{folder / case.number / 'expected.yaml'}: twin: must be the other run of its topic, got {case.twin}"
            )
