"""What Codex writes twice or as a running total, taken once, and what its two recordings word alike."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from adjudge.importers.build import count_of
from adjudge.record import Usage


class TokenCount:
    """Turns Codex's cumulative totals into the usage of single answers."""

    def __init__(self) -> None:
        self._total: Usage | None = None
        self._by_response = False

    def of_response(self, payload: dict[str, Any]) -> tuple[Usage, Usage] | None:
        """The usage of one answer, and the total with it, where the rollout has a row for each answer."""
        usage = usage_of(payload.get("usage"))
        self._by_response = True
        return (usage, usage_of(payload.get("thread_token_usage")) or usage) if usage else None

    def of_event(self, event: dict[str, Any]) -> tuple[Usage, Usage] | None:
        """The usage since the last total; `None` if nothing is new. `last_token_usage` can be that of an older answer."""
        info = event.get("info")
        total = usage_of(info.get("total_token_usage")) if isinstance(info, dict) else None
        if total is None or total == self._total or self._by_response:
            return None
        before, self._total = self._total, total
        last = usage_of(info.get("last_token_usage")) if isinstance(info, dict) else None
        return _difference(total, before) or last or total, total

    def pass_over(self, payload: dict[str, Any]) -> None:
        """Take note of the total in a copied row."""
        if payload.get("type") == "token_count":
            self.of_event(payload)


def usage_of(value: Any) -> Usage | None:
    """Codex's usage, where `input_tokens` counts the cached ones too."""
    if not isinstance(value, dict):
        return None
    return Usage(
        count_of(value.get("input_tokens")),
        count_of(value.get("cached_input_tokens")),
        count_of(value.get("cache_write_input_tokens")),
        count_of(value.get("output_tokens")),
        count_of(value.get("reasoning_output_tokens")),
    )


def error_origin(message: str) -> str:
    """The origin of an error's event: whether the request failed, or its answer was cut at the token limit."""
    return "token-limit" if message == "Incomplete response returned, reason: max_output_tokens" else "api-error"


def _difference(total: Usage, before: Usage | None) -> Usage | None:
    """What came since, or `None` if the total went down (a fork, a rollback) or there was none."""
    if before is None:
        return None
    now, then = msgspec.structs.astuple(total)[:5], msgspec.structs.astuple(before)[:5]
    parts = [None if new is None else new - (old or 0) for new, old in zip(now, then, strict=True)]
    return None if any(part is not None and part < 0 for part in parts) else Usage(*parts)


class ToldTwice:
    """Pairs each text with its twin from the other of two sources, whichever comes first."""

    def __init__(self) -> None:
        self._alone: dict[str, Counter[int]] = {"response_item": Counter(), "event_msg": Counter()}

    def before(self, text: str, source: str) -> bool:
        """Whether the other source told this already, once for each time that it did."""
        key, other = hash(text.strip()), self._alone["event_msg" if source == "response_item" else "response_item"]
        if other[key] > 0:
            other[key] -= 1
            return True
        del other[key]
        self._alone[source][key] += 1
        return False
