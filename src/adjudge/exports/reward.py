"""A judgment as Harbor's `reward.json`: one flat object of numbers, read by Harbor from `/logs/verifier/reward.json`."""

from __future__ import annotations

import msgspec

from adjudge.errors import InputError
from adjudge.judgment import Judgment


def reward_json(judgment: Judgment) -> str:
    """`reward`, the score between 0 and 1, and each criterion's id with 1 for pass and 0 for fail.

    Raises:
        InputError: the judgment has no score, or a criterion is called `reward`.
    """
    if judgment.score is None:
        why = judgment.reason if judgment.status == "errored" else "it was made without a rubric"
        raise InputError(f"judgment {judgment.id} has no score, so there is no reward: {why}")
    rewards = {verdict.criterion: int(verdict.passed) for verdict in judgment.verdicts}
    if "reward" in rewards:
        raise InputError(f"judgment {judgment.id}: a criterion is called 'reward', which names the score: rename it")
    return msgspec.json.encode({"reward": judgment.score, **rewards}).decode()
