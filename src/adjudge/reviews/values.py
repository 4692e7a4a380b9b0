"""A review: what one person says of one verdict or score of one judgment. It is never changed, only superseded."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

Mode = Literal["seen", "blind"]
Order = Literal["random", "disagreement", "uncertainty"]
Picked = Literal["random", "disagreement", "uncertainty", "chosen"]


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reviewer says of an item, which is a criterion's or a dimension's id, before it is checked and kept.

    `seen` is for who knows what the judge said, and takes `approved`. `blind` is for who does not, and takes the reviewer's
    own verdict in `passed` or value on the dimension's scale in `value`. `supersedes` is the id of the reviewer's review
    of the same item that this one takes the place of. `picked` tells how the item was come by: in which order a queue gave
    it, or chosen by hand.
    """

    judgment: str
    item: str
    reviewer: str
    mode: Mode
    reason: str
    approved: bool | None = None
    passed: bool | None = None
    value: float | None = None
    supersedes: str | None = None
    picked: Picked = "chosen"


class Review(Said, frozen=True, kw_only=True, omit_defaults=True):
    """What was said, when (in UTC), and its id, which is a hash over all of it.

    `worse` says, of a blind review, that the reviewer holds the agent for worse than blameless: by a fail, or by a value.
    """

    id: str
    added: str
    worse: bool | None = None


def review_id(review: Review) -> str:
    """The id of a review with this content; a review that was changed has another."""
    fields = msgspec.structs.asdict(review) | {
        "id": None
    }  # all of them: what is left out of a Struct as its default varies
    content = msgspec.json.encode(fields, order="deterministic")
    return f"v-{hashlib.sha256(content).hexdigest()[:32]}"
