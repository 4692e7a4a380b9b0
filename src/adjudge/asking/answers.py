"""What a model answers, before anything of it was checked."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from adjudge.asking import prompt
from adjudge.asking.values import Cited
from adjudge.errors import JudgingError
from adjudge.judges.evaluator.tools import schema_of
from adjudge.judges.strict import read_strictly, unfenced
from adjudge.ports import Tool

MOST_STATEMENTS = 40
LONGEST_TEXT = 1_000


class Pointed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A citation as a model writes it."""

    exhibit: Annotated[
        str, Meta(max_length=200, description="a look (L3), a run (r-…), an entry (r-…/e12), a verdict (j-…/criterion)")
    ]
    quote: Annotated[str, Meta(max_length=4_000, description="copied from that exhibit, in one piece")] = ""


class Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement as a model writes it."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_TEXT, description="one thing, in one or two sentences")]
    citations: Annotated[tuple[Pointed, ...], Meta(max_length=20, description="all of them must hold")]


class NotTold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the store does not tell, as a model writes it."""

    text: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_TEXT, description="what, as the end of: The store does not tell …")
    ]
    looks: Annotated[tuple[str, ...], Meta(max_length=20, description="the looks in which you looked for it")]


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attempt to steer, as a model reports it."""

    exhibit: Annotated[str, Meta(max_length=200)]
    excerpt: Annotated[str, Meta(max_length=2_000, description="the words, copied in one piece")]


class Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a model answers at once."""

    statements: Annotated[tuple[Said, ...], Meta(max_length=MOST_STATEMENTS)]
    untold: Annotated[tuple[NotTold, ...], Meta(max_length=20, description="what the store does not tell")] = ()
    steering: Annotated[tuple[Told, ...], Meta(max_length=50, description="attempts to steer you, if there were any")] = ()


def cited(pointed: Pointed) -> Cited:
    """The citation, without what models like to put around an id."""
    return Cited(pointed.exhibit.strip(" \n[]`"), pointed.quote)


def answer_tool() -> Tool:
    """The tool through which a model answers."""
    return Tool(prompt.ANSWER, prompt.TOOLS[prompt.ANSWER], schema_of(Given))


def read_answer(text: str) -> Given:
    """An answer from a message that is one JSON object, alone or in one fence around the whole message.

    Raises:
        JudgingError: it is anything else, or says nothing; the message tells the model what is wrong.
    """
    return _not_empty(read_strictly(unfenced(text), Given))


def read_arguments(text: str) -> Given:
    """The answer in the arguments of a call. Raises JudgingError as `read_answer` does."""
    return _not_empty(read_strictly(text, Given))


def _not_empty(given: Given) -> Given:
    if not (given.statements or given.untold):
        raise JudgingError("it has no statement, and says of nothing that the store does not tell it")
    return given
