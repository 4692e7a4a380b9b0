"""How a run ended as its record tells it: an agent may exit with 0 although its model failed."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.record import Entry
from adjudge.run import Run, RunFailure

CUT = frozenset({"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"})
"""Words of providers for a response that was cut at the token limit."""

UNTOLD = frozenset({"none", "output"})
"""Formats that tell of no response, so that none says nothing."""


def ending_of(run: Run) -> RunFailure | None:
    """The failure that the record ends with.

    `model` if the last thing that happened is a failed request, `cut` if it is a response that was cut at the token limit,
    `nothing` if there is no response at all. `None` for everything else, a killed run too: its exit status tells. Some
    recordings cannot tell: a session of Gemini CLI has neither failed requests nor the reason why a response stopped, its
    stream has only the former, and neither of Qwen Code's recordings has the latter.
    """
    record = run.record
    if record.format in UNTOLD:
        return None
    last = _last(record.entries)
    if last and last.origin == "api-error":
        return "model"
    if last and last.origin == "token-limit":
        return "cut"
    if not record.turns:
        return "nothing"
    answered = last is not None and last.writer == "agent" and last.turn == record.turns[-1].number
    return "cut" if answered and record.turns[-1].stop in CUT else None


def _last(entries: Sequence[Entry]) -> Entry | None:
    """The last entry that tells of a failed request or is not the harness's."""
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if entry.writer != "harness" or entry.origin in ("api-error", "token-limit"):
            return entry
    return None
