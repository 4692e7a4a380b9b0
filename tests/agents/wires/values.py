"""What is played and what is asked, whatever the wire format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

Wire = Literal["chat", "responses", "anthropic", "gemini"]


class Billed(msgspec.Struct, frozen=True):
    """Tokens that an answer bills: `input` counts all that were sent, `cached` those of them that came from a cache."""

    input: int
    cached: int = 0
    output: int = 0


class Step(msgspec.Struct, frozen=True):
    """One answer of the scripted model.

    `calls` are tools with their arguments: an object, or the text of a free-form tool. `status` refuses with this HTTP
    status in place of an answer; `cut` drops the connection in the middle of one; `delay` is in seconds.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    billed: Billed | None = None
    finish: Literal["length"] | None = None
    status: int | None = None
    cut: bool = False
    delay: float = 0.0


class Script(msgspec.Struct, frozen=True):
    """A task's steps: for requests with a user's message in which `match` is found, to this `model` if one is named."""

    steps: tuple[Step, ...]
    match: str = ""
    model: str | None = None


class Question(msgspec.Struct, frozen=True):
    """A request as its wire format tells it.

    `offered` are the tools that may be called and their kinds (`function`, or `custom` for free-form text), `said` the
    user's messages, `results` how many results of tools are in the conversation.
    """

    model: str
    offered: Mapping[str, str]
    said: tuple[str, ...]
    results: int
    stream: bool


class Answer(msgspec.Struct, frozen=True):
    """A step as an answer to one question; `id` begins the ids of all that is in it."""

    id: str
    question: Question
    step: Step
    billed: Billed

    def calls(self) -> Iterator[tuple[str, str, dict[str, Any] | str]]:
        """An id, the tool's name and its arguments, for every call."""
        for number, (name, arguments) in enumerate(self.step.calls):
            yield f"call_{self.id}_{number}", name, arguments

    def stop(self, end: str, calls: str, length: str) -> str:
        """The wire's word for why the answer ended."""
        return length if self.step.finish else calls if self.step.calls else end


class Event(NamedTuple):
    """One server-sent event: its name, if the format names them, and its data."""

    name: str | None
    data: dict[str, Any] | str


def text_of(value: Any) -> str:
    """The text in a message's content: a text, or parts that hold some."""
    if isinstance(value, list):
        return "\n".join(map(text_of, value))
    if isinstance(value, dict):
        return text_of(value.get("text", ""))
    return value if isinstance(value, str) else ""
