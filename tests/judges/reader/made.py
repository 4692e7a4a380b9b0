"""A small rubric of dimensions, and answers on it as a model would write them."""

from __future__ import annotations

import json
from typing import Any

from adjudge.rubric import RATIO, SEVERITY, Dimension, Rubric, Scale

RUBRIC = Rubric(
    "ours",
    (),
    "hash",
    "rubric.yaml",
    (
        Dimension("loop", SEVERITY, 0, "higher", "repeated calls"),
        Dimension("useful", RATIO, 1, "lower", "useful calls"),
        Dimension("mood", Scale(-2.5, 2.5, whole=False), 0, "lower", "how it went"),
        Dimension("waste", SEVERITY, 0, "higher", "avoidable tokens", causes=("repeated call", "large output")),
    ),
    "1",
)
SCALES = {dimension.id: dimension.scale for dimension in RUBRIC.dimensions}

CITED = {"turn": "t7", "quote": "the very same call"}


def scored(value: object, **more: object) -> dict[str, Any]:
    return {"reasoning": "It says why.", "value": value, "citations": [CITED], **more}


def message(**scores: object) -> str:
    return json.dumps({"scores": scores, "summary": "It ran in circles.", "steering": []})


def waste(**changed: object) -> dict[str, Any]:
    cause = {"cause": "large output", "share": 0.2, "recommendation": "Use tail.", "citations": [CITED]}
    return scored(2, share=0.3, causes=[cause | changed])


GOOD = message(loop=scored(3))
