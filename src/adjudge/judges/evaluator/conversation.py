"""The conversation with the model: it only ever grows at its end, so that providers find its beginning in their caches.

System text and tools stay the same to the last request. When the tools are withdrawn, they are still listed, but the
request's choice is `none`: leaving them out would change the first bytes of the prompt and make the longest request of
all the dearest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from adjudge.errors import JudgingError, ModelError
from adjudge.judges.evaluator import prompt
from adjudge.judges.strict import MOST_SENT, bounded
from adjudge.judgment import Call, Step
from adjudge.ports import Message, Model, Reply, Request, Tool, ToolCall

ROOM = 8_192
"""Tokens that a reply may have at first."""
MOST_ROOM = 32_768
"""Tokens that a reply may have after it was cut off."""
REASKED = 3
"""Replies that may be unusable (cut off, stopped for a reason nobody knows) in one judgment."""
SILENCES = 3
"""Replies with nothing in them that are asked for once more in one judgment, each as if it had not come."""
CHARACTERS_A_TOKEN = 3
"""A cautious estimate for text that has not been counted by the provider yet."""

USABLE = ("end", "calls")


class Conversation:
    """What was said so far, the transcript of it and what it cost."""

    def __init__(self, model: Model, system: str, tools: Sequence[Tool], schema: dict[str, Any]) -> None:
        self._system = system
        self._model, self._tools, self._schema = model, tuple(tools), schema
        self._messages: list[Message] = []
        self._asked = 0
        self._tokens = (len(system) + len(str(self._tools))) // CHARACTERS_A_TOKEN
        self._room = min(ROOM, model.window // 4) if model.window else ROOM
        self._unusable = self._silences = 0
        self.steps: list[Step] = []
        self.calls: list[Call] = []

    def tell(self, text: str) -> None:
        """Append a message of adjudge's."""
        self._messages.append(Message("user", text))

    def answer(self, call: ToolCall, text: str) -> None:
        """Append what a call brought."""
        self._messages.append(Message("tool", text, answers=call.id, name=call.name))

    def note(self, looks: Sequence[str], refused: Sequence[str]) -> None:
        """Add to the transcript's last step what came of it."""
        self.steps[-1] = msgspec.structs.replace(self.steps[-1], looks=tuple(looks), refused=tuple(refused))

    @property
    def full(self) -> bool:
        """Whether another question and its answer may not fit into the model's window."""
        if self._model.window is None:
            return False
        return self._tokens + _tokens(self._messages[self._asked :]) + 2 * self._room > self._model.window

    async def ask(self, withdrawn: bool) -> Reply:
        """The model's next usable reply; with `withdrawn` it may call no tool.

        A reply that was cut off is asked for again with more room, never read to where it was cut.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: its replies are unusable time and again.
        """
        reply = await self._ask_until_usable(withdrawn)
        if self._silences < SILENCES and not (reply.text or reply.calls or reply.reasoning):
            self._silences += 1
            reply = await self._ask_until_usable(withdrawn)
        if reply.text.strip() or reply.calls:
            self._messages.append(reply.message)
        self._asked = len(self._messages)
        return reply

    async def _ask_until_usable(self, withdrawn: bool) -> Reply:
        while True:
            reply = await self._ask_once(withdrawn)
            if reply.stop in USABLE:
                return reply
            self._unusable += 1
            if reply.stop == "filtered":
                raise JudgingError("The model or its provider refused to answer (content filter).")
            if self._unusable >= REASKED:
                raise JudgingError(_UNUSABLE.get(reply.stop, f"The model's replies ended with {reply.stop[:60]!r}."))
            self._room = min(self._room * 2, MOST_ROOM)

    async def _ask_once(self, withdrawn: bool) -> Reply:
        request = Request(
            system=self._system,
            messages=tuple(self._messages),
            tools=self._tools,
            choice="none" if withdrawn else "auto",
            schema=self._schema if withdrawn else None,
            most=self._room,
        )
        told = self._told()
        try:
            reply = await self._model.answer(request)
        except ModelError as error:
            self.calls += [call for call in error.calls if isinstance(call, Call)]
            self.steps.append(Step(told, None, stop=error.kind))
            raise
        self.calls.append(reply.call)
        calls = tuple(clean(bounded(f"{call.name} {call.arguments}", MOST_SENT)) for call in reply.calls)
        self.steps.append(Step(told, clean(reply.text), reply.reasoning and clean(reply.reasoning), calls, stop=reply.stop))
        usage = reply.call.usage
        self._tokens = (usage.prompt or _tokens(self._messages)) + (usage.output or self._room)
        return reply

    def _told(self) -> str:
        texts = [message.text for message in self._messages[self._asked :] if message.role != "assistant"]
        self._asked = len(self._messages)
        return "\n\n".join(texts if self.steps else [self._system, *texts])

    def shorten(self) -> bool:
        """Take what the latest looks brought out of the conversation again; whether there was anything.

        The one exception to growing at the end: without it, a request that the provider calls too long stays too long.
        """
        position, shortened = len(self._messages), False
        while position and self._messages[position - 1].role != "assistant":
            position -= 1
            message = self._messages[position]
            if message.role == "tool" and message.text != prompt.NOT_KEPT:
                self._messages[position] = msgspec.structs.replace(message, text=prompt.NOT_KEPT)
                shortened = True
        return shortened


_UNUSABLE = {
    "length": f"The model's replies were cut off {REASKED} times, in the end at {MOST_ROOM} tokens.",
}


def _tokens(messages: Sequence[Message]) -> int:
    texts = sum(len(message.text) + sum(len(call.arguments) for call in message.calls) for message in messages)
    return texts // CHARACTERS_A_TOKEN


def clean(text: str) -> str:
    """The text without halves of surrogate pairs, which no file and no database takes."""
    return text.encode("utf-8", "replace").decode()
