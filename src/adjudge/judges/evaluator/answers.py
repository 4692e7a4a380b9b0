"""What a model decides, and how its words become answers: strictly, or with a sentence on what is wrong."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from adjudge.evidence import Citation
from adjudge.judges.evaluator import prompt
from adjudge.judges.evaluator.tools import schema_of
from adjudge.judges.strict import bounded, read_strictly, unfenced
from adjudge.judgment import Answer
from adjudge.ports import Tool

LONGEST_NOTE = 2_000
LONGEST_SUMMARY = 6_000


class Cited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A citation as a model writes it."""

    exhibit: Annotated[str, Meta(max_length=100, description="the id of an entry (e12) or of a look (L3)")]
    quote: Annotated[str, Meta(max_length=4_000, description="copied from that exhibit, in one piece")]


class Ruling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A verdict as a model writes it."""

    criterion: Annotated[str, Meta(max_length=200, description="the criterion's id")]
    verdict: Literal["pass", "fail"]
    note: Annotated[str, Meta(description="the concrete thing that was found, in one or two sentences")]
    citations: Annotated[tuple[Cited, ...], Meta(max_length=30)] = ()
    cause: Annotated[
        Literal["agent", "environment", "unproven"] | None, Meta(description="for a fail: whose failing it was")
    ] = None


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An attempt to steer the evaluator, as a model reports it."""

    exhibit: Annotated[str, Meta(max_length=100)]
    excerpt: Annotated[str, Meta(max_length=2_000, description="the words, copied in one piece")]


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a model decides in one answer."""

    verdicts: Annotated[tuple[Ruling, ...], Meta(max_length=500)]
    summary: Annotated[str, Meta(description="what the agent did, in a few sentences, and any attempt to steer you")]
    steering: Annotated[tuple[Told, ...], Meta(max_length=50, description="attempts to steer you, if there were any")] = ()

    def answers(self) -> tuple[Answer, ...]:
        """The verdicts as the gate takes them."""
        return tuple(_answer(ruling) for ruling in self.verdicts)


def decide_tool() -> Tool:
    """The tool through which a model decides."""
    return Tool(prompt.DECIDE, prompt.TOOLS[prompt.DECIDE], schema_of(Decision))


def read_decision(text: str) -> Decision:
    """A decision from a message that is one JSON object, alone or in one fence around the whole message.

    Raises:
        JudgingError: it is anything else; the message tells the model what is wrong.
    """
    return read_strictly(unfenced(text), Decision)


def merged(first: Decision, second: Decision) -> Decision:
    """The second decision, with the first's verdicts for the criteria that it does not speak of."""
    spoken = {ruling.criterion for ruling in second.verdicts}
    kept = tuple(ruling for ruling in first.verdicts if ruling.criterion not in spoken)
    steering = tuple(dict.fromkeys((*first.steering, *second.steering)))
    return Decision((*kept, *second.verdicts), second.summary.strip() or first.summary, steering)


def _answer(ruling: Ruling) -> Answer:
    citations = tuple(Citation(cited.exhibit, cited.quote) for cited in ruling.citations)
    return Answer(ruling.criterion, ruling.verdict == "pass", bounded(ruling.note, LONGEST_NOTE), citations, ruling.cause)
