"""What a call consumed: as the provider reports it, or a careful estimate where it reports nothing."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from adjudge.ports import Request
from adjudge.record import Usage

CHARACTERS_A_TOKEN = 4


def tokens_of(request: Request) -> int:
    """A careful estimate of a request's size in tokens: a fourth of its characters, tools and schema included."""
    said = sum(len(m.text) + sum(len(call.name) + len(call.arguments) for call in m.calls) for m in request.messages)
    declared = _declared([msgspec.to_builtins(request.tools), request.schema])
    return (len(request.system) + said + declared) // CHARACTERS_A_TOKEN + 1


def _declared(value: Any) -> int:
    """Characters of a value as JSON."""
    try:
        return len(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:  # half of a surrogate pair, which only the slower one writes
        return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def with_estimates(reported: Usage | None, request: Request, received: int) -> tuple[Usage, bool]:
    """The usage of a call that brought `received` characters, and whether some of it had to be estimated.

    Zero tokens are as impossible as none: a call always sends and, if it brought anything, receives some.
    """
    usage = reported or Usage()
    prompt = usage.prompt or tokens_of(request)
    output = usage.output if usage.output is not None and (usage.output or not received) else None
    estimated = not usage.prompt or output is None
    if output is None:
        output = received // CHARACTERS_A_TOKEN + 1
    cached = None if usage.cached is None else min(usage.cached, prompt)
    return msgspec.structs.replace(usage, prompt=prompt, output=output, cached=cached), estimated
