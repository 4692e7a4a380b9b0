"""A judgment, and the two gates through which a model's answer becomes a verdict or a score."""

from __future__ import annotations

from adjudge.judgment.gate import Fault, gate, restates, score
from adjudge.judgment.scores import gate_scores
from adjudge.judgment.tampering import CAN, doubt, listed, owned, suspected
from adjudge.judgment.values import (
    UNRELATED,
    Answer,
    Call,
    Cause,
    CauseAnswer,
    CauseFound,
    DimensionAnswer,
    Failure,
    HookKind,
    Judge,
    Judgment,
    Omitted,
    Prepared,
    Rung,
    Score,
    Status,
    Steering,
    Step,
    Tampering,
    Verdict,
)
from adjudge.settings import PruneMode

__all__ = [
    "CAN",
    "UNRELATED",
    "Answer",
    "Call",
    "Cause",
    "CauseAnswer",
    "CauseFound",
    "DimensionAnswer",
    "Failure",
    "Fault",
    "HookKind",
    "Judge",
    "Judgment",
    "Omitted",
    "Prepared",
    "PruneMode",
    "Rung",
    "Score",
    "Status",
    "Steering",
    "Step",
    "Tampering",
    "Verdict",
    "doubt",
    "gate",
    "gate_scores",
    "listed",
    "owned",
    "restates",
    "score",
    "suspected",
]
