"""What a model answers about dimensions: the schema it is asked for, and how its words become answers.

Strict in what is there, lenient in what is missing. A value that is off its scale, a name that is not in the rubric, a
key that nobody asked for, a number in a text: all are refused with a sentence, since reading them would be guessing what
was meant. A dimension, a reasoning or a citation that is left out accuses nobody, and the gate has a word for each
(`unanswered`, `missing_reasoning`, `evidence_missing`), so one of them does not cost the rest of the answer.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from adjudge.errors import JudgingError
from adjudge.evidence import Citation
from adjudge.judges.strict import MOST_SENT, bounded, converted, read_json, unfenced
from adjudge.judgment import CauseAnswer, DimensionAnswer
from adjudge.judgment.scores import MOST_CITATIONS
from adjudge.rubric import RATIO, Dimension, Rubric, Scale
from adjudge.rubric.fields import told

LONGEST_REASONING = 4_000
LONGEST_RECOMMENDATION = 1_000
LONGEST_SUMMARY = 6_000

MOST_CAUSES = 50
"""Causes that one answer may name; a rubric has no more."""

MOST_STEERING = 50
"""Attempts to steer that one answer may tell of."""

T = TypeVar("T")


class ToldSteering(msgspec.Struct, frozen=True):
    """An attempt to steer the reader, as a model reports it, before any check."""

    turn: str
    excerpt: str


class ReaderAnswer(msgspec.Struct, frozen=True):
    """All that a model answered, in the rubric's order of dimensions; every value is on its scale."""

    answers: tuple[DimensionAnswer, ...]
    summary: str
    steering: tuple[ToldSteering, ...]

    @property
    def cites(self) -> bool:
        """Whether it points at anything in the record."""
        return bool(self.steering) or any(
            each.citations or any(cause.citations for cause in each.causes) for each in self.answers
        )


# --- what a model is asked for


@lru_cache(maxsize=16)
def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON Schema of an answer on this rubric, in the part of the language that all providers take.

    Every key is required and no other is allowed; what may be null says so with `anyOf`; nothing refers elsewhere, and
    no length is bounded. The reasoning comes before the value, so that a model has given its reasons when it scores.
    The same rubric gives the very same value, which nobody may change.
    """
    scores = {dimension.id: _dimension_schema(dimension) for dimension in rubric.dimensions}
    steering = _object({"turn": _text("such as t7, or s1.t3 of a sub-agent"), "excerpt": _text("the words, copied")})
    summary = _text("what the agent did, in a few sentences, and any attempt to steer you")
    return _object({"scores": _object(scores), "summary": summary, "steering": _list(steering, MOST_STEERING)})


def _dimension_schema(dimension: Dimension) -> dict[str, Any]:
    properties = {
        "reasoning": _text("why, with what speaks against it"),
        "value": _number_or_null(dimension.scale),
        "citations": _citations_schema(),
    }
    if dimension.causes:
        properties["share"] = _number_or_null(RATIO)
        properties["causes"] = _list(_cause_schema(dimension.causes), MOST_CAUSES)
    return _object(properties)


def _cause_schema(causes: tuple[str, ...]) -> dict[str, Any]:
    return _object(
        {
            "cause": {"type": "string", "enum": list(causes)},
            "share": _number_or_null(RATIO),
            "recommendation": _text("the one thing that would have prevented it"),
            "citations": _citations_schema(),
        }
    )


def _citations_schema() -> dict[str, Any]:
    cited = {"turn": _text("such as t7, or s1.t3 of a sub-agent"), "quote": _text("copied from that turn, in one piece")}
    return _list(_object(cited), MOST_CITATIONS)


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: dict[str, Any], most: int) -> dict[str, Any]:
    return {"type": "array", "items": items, "maxItems": most}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def _number_or_null(scale: Scale) -> dict[str, Any]:
    if scale.whole:
        number = {"type": "integer", "minimum": int(scale.least), "maximum": int(scale.most)}
    else:
        number = {"type": "number", "minimum": scale.least, "maximum": scale.most}
    return {"anyOf": [number, {"type": "null"}]}


# --- what a model writes


class _Cited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    turn: str | int
    quote: str


class _Cause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cause: str
    share: object = None
    recommendation: str = ""
    citations: tuple[_Cited, ...] = ()


class _Scored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    value: object = msgspec.UNSET
    reasoning: str = ""
    citations: tuple[_Cited, ...] = ()


class _ScoredWithCauses(_Scored, frozen=True, forbid_unknown_fields=True):
    share: object = None
    causes: tuple[_Cause, ...] = ()


class _Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    turn: str | int
    excerpt: str


class _Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scores: dict[str, object]
    summary: str = ""
    steering: tuple[_Told, ...] = ()


_SHAPE = 'the answer is one object {"scores": {…}, "summary": "…", "steering": […]}, and no call of a tool'


def read_answer(text: str, rubric: Rubric) -> ReaderAnswer:
    """An answer from a message that is one JSON object, alone or in one fence around the whole message.

    Raises:
        JudgingError: it is anything else; the message tells the model where it is wrong and what would be right.
    """
    value = read_json(unfenced(text))
    if not isinstance(value, dict) or "scores" not in value:
        raise JudgingError(_SHAPE)
    message = _at("the answer", value, _Message)
    known = {dimension.id: dimension for dimension in rubric.dimensions}
    for name in message.scores:
        if name not in known:
            raise JudgingError(f"scores: there is no dimension {name[:60]!r}; there are {', '.join(known)}")
    if not message.scores:
        raise JudgingError(f"scores: holds no dimension; there are {', '.join(known)}")
    _few("steering", message.steering, MOST_STEERING)
    return ReaderAnswer(
        tuple(_answer(known[name], message.scores[name]) for name in known if name in message.scores),
        bounded(message.summary, LONGEST_SUMMARY),
        tuple(ToldSteering(_turn(f"steering[{at}]", told.turn), told.excerpt) for at, told in enumerate(message.steering)),
    )


def _answer(dimension: Dimension, value: Any) -> DimensionAnswer:
    at = f"scores.{dimension.id}"
    scored = _at(at, value, _ScoredWithCauses if dimension.causes else _Scored)
    share, causes = (scored.share, scored.causes) if isinstance(scored, _ScoredWithCauses) else (None, ())
    _few(f"{at}.causes", causes, MOST_CAUSES)
    return DimensionAnswer(
        dimension.id,
        _number(f"{at}.value", scored.value, dimension.scale),
        bounded(scored.reasoning, LONGEST_REASONING),
        _citations(at, scored.citations),
        _number(f"{at}.share", share, RATIO),
        tuple(_cause(f"{at}.causes[{number}]", dimension, cause) for number, cause in enumerate(causes)),
    )


def _cause(at: str, dimension: Dimension, cause: _Cause) -> CauseAnswer:
    if cause.cause not in dimension.causes:
        raise JudgingError(f"{at}.cause: must be one of {', '.join(dimension.causes)}, got {cause.cause[:80]!r}")
    share = _number(f"{at}.share", cause.share, RATIO)
    recommendation = bounded(cause.recommendation, LONGEST_RECOMMENDATION)
    return CauseAnswer(cause.cause, share, recommendation, _citations(at, cause.citations))


def _number(at: str, number: object, scale: Scale) -> float | None:
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int | float) or not scale.holds(number):
        got = "but is missing" if number is msgspec.UNSET else f"got {told(number)}"
        raise JudgingError(f"{at}: must be {_range(scale)}, or null if nothing was established, {got}")
    return number + 0.0  # of which -0.0 becomes 0.0


def _range(scale: Scale) -> str:
    return f"a {'whole ' if scale.whole else ''}number from {scale.least:g} to {scale.most:g}"


def _citations(at: str, cited: tuple[_Cited, ...]) -> tuple[Citation, ...]:
    _few(f"{at}.citations", cited, MOST_CITATIONS)
    return tuple(Citation(_turn(f"{at}.citations[{number}]", one.turn), one.quote) for number, one in enumerate(cited))


_TURN = re.compile(r"\[?(?:turn )?(?P<agent>(?:s[0-9]{1,9}\.)*)(?:turn ?|t)?(?P<number>[0-9]{1,11})\]?")


def _turn(at: str, turn: str | int) -> str:
    """A turn's name as exhibits have it, where it can be read; else as it was written, which the gate will not find."""
    if isinstance(turn, int) and turn < 0:
        raise JudgingError(f'{at}.turn: must name a turn, such as "t7" or "s1.t3", got {told(turn)}')
    name = str(turn).strip()
    found = _TURN.fullmatch(name.lower())
    return f"{found['agent']}t{int(found['number'])}" if found else name[:100]


def _few(at: str, items: tuple[Any, ...], most: int) -> None:
    if len(items) > most:
        raise JudgingError(f"{at}: holds {len(items)} items; give at most {most}, the clearest ones")


def _at(place: str, value: Any, kind: type[T]) -> T:
    """A JSON value as this kind, or a JudgingError that begins with the place in it."""
    try:
        return converted(value, kind)
    except JudgingError as error:
        words, _, inner = str(error).partition(" - at `$")
        raise JudgingError(f"{place}{inner.rstrip('`')}: {bounded(words, 200)}") from error


# --- an answer in prose

TRIES = 100
"""Braces in a message at which an object may begin that turns out to be none."""

_BEGINNING = re.compile(r'\{\s*"')
_INSIDE = re.compile(r'(?:"\s*:|\[|[]}"\d]\s*,|(?:true|false|null)\s*,)\Z')
_OTHER = re.compile(r"scores[\"']?\s*:")
"""Another answer, or the beginning of one."""
_decoder = json.JSONDecoder()


def object_in_prose(text: str) -> str:
    """The one JSON object with scores that stands in a message, as text for `read_answer`.

    It begins and ends a line of its own: one in the middle of a sentence is spoken of, and not given. An object that lies
    in another one, or beside what may be a second answer however broken, is not the answer.

    Raises:
        JudgingError: there is none, or more than one: none is picked.
    """
    if len(text) > MOST_SENT:
        raise JudgingError(f"{len(text)} characters are too many; at most {MOST_SENT} are read")
    found: list[str] = []
    at = tries = 0
    while (begins := _BEGINNING.search(text, at)) and tries < TRIES:
        try:
            value, at = _decoder.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            at, tries = begins.end(), tries + 1
            continue
        if "scores" in value and not _INSIDE.search(text[: begins.start()].rstrip()[-50:]):
            found.append(text[begins.start() : at])
    if len(found) != 1 or begins or not _stands_alone(text, found[0]):
        several = "more than one JSON object" if len(found) > 1 else "no JSON object"
        raise JudgingError(f"{several} with scores can be read in it; {_SHAPE}")
    return found[0]


def _stands_alone(text: str, found: str) -> bool:
    before, _, after = text.partition(found)
    own_line = not before.rpartition("\n")[2].strip() and not after.partition("\n")[0].strip()
    return own_line and not _OTHER.search(before) and not _OTHER.search(after)
