"""A small strict reader of JSON, independent of the product's: one object with one boolean, `{"ok": true}`."""

from __future__ import annotations

import json
import re
from typing import Any

from adjudge.errors import JudgingError
from adjudge.judges.reader.cascade import Questions
from adjudge.ports import Message, Request

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
GOOD = '{"ok": true}'


def read(text: str, prose: bool) -> bool:
    """The boolean, if the text is that object and nothing else; in prose, if it holds one object and no more."""
    text = text.strip()
    if fenced := re.fullmatch(r"```(?:json)?\n(.*)\n```", text, re.S):
        text = fenced[1]
    if prose:
        braces = re.findall(r"\{[^{}]*\}", text)
        if len(braces) != 1:
            raise JudgingError(f"{len(braces)} objects are in it, not one")
        (text,) = braces
    try:
        value = json.loads(text, object_pairs_hook=_without_twins, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise JudgingError("it is not JSON") from error
    if not isinstance(value, dict) or list(value) != ["ok"] or not isinstance(value["ok"], bool):
        raise JudgingError("it is not an object with one boolean, `ok`")
    answer: bool = value["ok"]
    return answer


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a key stands there twice")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def questions(most: int = 8192, short: bool = False) -> Questions:
    """Is it so? The input is one line, or with `short` half of it; shrinking makes it short, once."""
    told = "The run." if short else "The long, long run."
    first = Request("You judge.", (Message("user", f"{told} Is it so?"),), schema=SCHEMA, most=most)
    return Questions(
        first=first,
        transcribe=lambda reasoning: Request(
            "You write down.", (Message("user", f"Write down what this concluded: {reasoning}"),), schema=SCHEMA, most=most
        ),
        prose=lambda: Request("You judge.", (Message("user", f"{told} Is it so? End with one JSON object."),), most=most),
        shrunk=None if short else lambda: questions(most, short=True),
    )
