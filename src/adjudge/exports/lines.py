"""Judgments as JSON Lines: one a line, as they are stored, with untrusted text as it may be shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from adjudge.judgment import Judgment
from adjudge.untrusted import shown


def json_lines(judgments: Iterable[Judgment]) -> Iterator[str]:
    """One line of JSON for each judgment, without its line end. Fields at their default are left out."""
    for judgment in judgments:
        yield msgspec.json.encode(_shown(msgspec.to_builtins(judgment))).decode()


def _shown(value: Any) -> Any:
    """The JSON value with each of its texts, names included, as it may be shown."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {shown(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list | tuple) else value
