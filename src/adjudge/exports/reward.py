"""A judgment as Harbor's `reward.json`: one flat object of numbers, read by Harbor from `/logs/verifier/reward.json`."""

from __future__ import annotations

import msgspec

from adjudge.errors import InputError
from adjudge.judgment import Judgment


def reward_json(judgment: Judgment) -> str:
    """`reward`, the score between 0 and 1, and each criterion's id with 1 for pass and 0 for fail.

    Of a reader each dimension with its value, and no `reward`: severities add up to no number, and a higher one is worse.
    Harbor takes any flat object of numbers; a dimension without a value is left out, since none is no number.

    Raises:
        InputError: the judgment has no score and no value, or a criterion or dimension is called `reward`.
    """
    rewards = _of_scores(judgment) if judgment.judge.kind == "reader" else _of_verdicts(judgment)
    return msgspec.json.encode(rewards).decode()


def _of_verdicts(judgment: Judgment) -> dict[str, float]:
    if judgment.score is None:
        why = judgment.reason if judgment.status == "errored" else "it was made without a rubric"
        raise InputError(f"judgment {judgment.id} has no score, so there is no reward: {why}")
    rewards: dict[str, float] = {verdict.criterion: int(verdict.passed) for verdict in judgment.verdicts}
    if "reward" in rewards:
        raise InputError(f"judgment {judgment.id}: a criterion is called 'reward', which names the score: rename it")
    return {"reward": judgment.score, **rewards}


def _of_scores(judgment: Judgment) -> dict[str, float]:
    values = {score.dimension: score.value for score in judgment.scores if score.value is not None}
    if not values:
        why = judgment.reason if judgment.status == "errored" else "the reader's answer is empty"
        raise InputError(f"judgment {judgment.id} has no value in any dimension, so there is no reward: {why}")
    if "reward" in values:
        raise InputError(f"judgment {judgment.id}: a dimension is called 'reward', which Harbor ranks by: rename it")
    return values
