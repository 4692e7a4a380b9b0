"""The loop of a model that looks before it answers: what the evaluator and an asking have in common.

Ask, look where it wants to, let its answer be checked, have it mended, and force an answer when the bounds are reached.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from adjudge.errors import JudgingError, ModelError
from adjudge.judges.evaluator.conversation import Conversation
from adjudge.judges.strict import bounded, read_strictly
from adjudge.ports import Reply, ToolCall

FAULTY = 2
"""Answers that may be unreadable before one is forced."""
FORCED = 3
"""How often a forced answer is asked for."""

How = Literal["freely", "forced"]


class Words(Protocol):
    """What is said to the model: a module of prompts has these names."""

    NO_LOOKS: str
    NO_ROOM: str
    TOO_MANY_REFUSED: str
    NO_PROPER_ANSWER: str
    UNREADABLE: str
    UNREADABLE_FORCED: str
    SILENT: str
    LOOKS_LEFT: str
    MEND: str
    MEND_LOOKING: str
    WITHDRAWN: str
    NOTHING_LEFT: str
    NOT_ALONE: str
    SAME_ID: str
    UNKNOWN_TOOL: str
    BAD_ARGUMENTS: str


class Bounds(msgspec.Struct, frozen=True):
    """How many looks a loop may make, and how many calls may be refused before an answer is forced."""

    looks: int
    refusals: int


class Named(Protocol):
    """A look, whatever it was at."""

    @property
    def id(self) -> str:
        """Its name, such as `L3`."""


Asked = TypeVar("Asked", bound=msgspec.Struct)
Seen = TypeVar("Seen", bound=Named)
Answer = TypeVar("Answer")


class Looker(Protocol[Asked, Seen]):
    """Makes looks."""

    def asked(self, call: ToolCall) -> Asked:
        """What a call asks for. Raises JudgingError, in words for the model."""

    async def look(self, asked: Sequence[Asked]) -> list[Seen]:
        """Look at all that is asked for, in this order."""


class Loop(ABC, Generic[Asked, Seen, Answer]):
    """One conversation, from the first question to an answer that is settled.

    `answering` is the tool with which the model answers. Looks are counted here; the looker keeps them.
    """

    def __init__(
        self, words: Words, answering: str, looker: Looker[Asked, Seen], talk: Conversation, bounds: Bounds
    ) -> None:
        self._words, self._answering, self._looker, self._talk, self._bounds = words, answering, looker, talk, bounds
        self._used = self._refused = self._faulty = self._forced = 0
        self._withdrawn = False
        self._fault = "no answer came"
        self._say: Callable[[str], None] = talk.tell

    # --- what differs

    @abstractmethod
    def _read_called(self, arguments: str) -> Answer:
        """The answer in the arguments of a call. Raises JudgingError if there is none."""

    @abstractmethod
    def _read_written(self, text: str) -> Answer:
        """The answer in a message. Raises JudgingError if there is none."""

    @abstractmethod
    async def _faults_of(self, answer: Answer) -> str | None:
        """Keep an answer, checked, and give the faults that it may still mend, or `None` if it is the last one."""

    @abstractmethod
    def _forcing(self, why: str) -> str:
        """The question that forces an answer."""

    @abstractmethod
    def _shown(self, look: Seen) -> str:
        """A look as the model gets it."""

    @abstractmethod
    def _report(self, look: Seen | None = None) -> None:
        """Tell whoever watches of a look, or that the model is being asked."""

    # --- the loop

    async def _until_settled(self) -> None:
        """Ask until an answer is settled, or the model was made to answer as often as it may be.

        The conversation must already hold its first message.

        Raises:
            ModelError: the model cannot be had.
            JudgingError: its replies are unusable time and again.
        """
        while self._forced < FORCED:
            if not self._withdrawn and (why := self._bound_reached()):
                self._withdraw(why)
            answer = await self._answer_in(await self._ask())
            if answer is not None and await self._settles(answer):
                return

    @property
    def _how(self) -> How:
        return "forced" if self._withdrawn else "freely"

    def _bound_reached(self) -> str | None:
        if self._used >= self._bounds.looks:
            return self._words.NO_LOOKS
        if self._refused >= self._bounds.refusals:
            return self._words.TOO_MANY_REFUSED
        if self._faulty >= FAULTY:
            return self._words.NO_PROPER_ANSWER
        return self._words.NO_ROOM if self._talk.full else None

    def _withdraw(self, why: str) -> None:
        self._withdrawn = True
        self._talk.tell(self._forcing(why))

    async def _ask(self) -> Reply:
        """The model's reply; where a provider finds the conversation too long, to one that ends before the latest looks."""
        self._report()
        self._forced += self._withdrawn
        try:
            return await self._talk.ask(self._withdrawn)
        except ModelError as error:
            if error.kind != "context" or self._withdrawn or not self._talk.shorten():
                raise
        self._withdraw(self._words.NO_ROOM)
        self._forced += 1
        return await self._talk.ask(self._withdrawn)

    async def _answer_in(self, reply: Reply) -> Answer | None:
        """The answer that a reply holds; if it holds none, its looks are made and its faults told."""
        if len(reply.calls) == 1 and reply.calls[0].name == self._answering:
            self._say = partial(self._talk.answer, reply.calls[0])
            return self._read(reply.calls[0].arguments, self._read_called)
        if reply.calls:
            await self._serve(reply.calls)
            return None
        self._say = self._talk.tell
        return self._read(reply.text, self._read_written)

    def _read(self, said: str, read: Callable[[str], Answer]) -> Answer | None:
        try:
            return read(said)
        except JudgingError as error:
            self._faulty += 1
            self._fault = bounded(str(error), 300)
            words = self._words.UNREADABLE_FORCED if self._withdrawn else self._words.UNREADABLE
            self._say(words.format(fault=self._fault) if said.strip() else self._words.SILENT)
            self._talk.note((), (self._fault,))
            return None

    async def _settles(self, answer: Answer) -> bool:
        """Whether this answer is the last one; if not, its faults are told."""
        faults = await self._faults_of(answer)
        if faults is None:
            return True
        looking = "" if self._withdrawn or self._used >= self._bounds.looks else self._words.MEND_LOOKING
        self._say(self._words.MEND.format(faults=faults, looks=looking))
        self._forced = min(self._forced, FORCED - 1)
        return False

    # --- looks

    async def _serve(self, calls: Sequence[ToolCall]) -> None:
        """Look where a call asks for it, say why not where it may not, and answer each id once."""
        distinct: dict[str, ToolCall] = {}
        for call in calls:
            distinct.setdefault(call.id, call)
        asked: dict[str, Asked] = {}
        refused: dict[str, str] = {}
        for call in distinct.values():
            try:
                asked[call.id] = self._allowed(call, len(asked))
            except JudgingError as error:
                refused[call.id] = str(error)
        looks = dict(zip(asked, await self._looker.look(list(asked.values())), strict=True))
        for look in looks.values():
            self._used += 1
            self._report(look)
        answers = refused | {identifier: self._shown(look) for identifier, look in looks.items()}
        doubled = [self._words.SAME_ID] * (len(calls) - len(distinct))
        self._refused += len(refused) + len(doubled)
        self._talk.note([look.id for look in looks.values()], [*refused.values(), *doubled[:1]])
        self._tell_all(distinct.values(), answers, doubled[:1])

    def _allowed(self, call: ToolCall, before: int) -> Asked:
        """What a call asks for. Raises JudgingError, in words for the model, if it may not have it."""
        if self._withdrawn:
            raise JudgingError(self._words.WITHDRAWN)
        if call.name == self._answering:
            raise JudgingError(self._words.NOT_ALONE)
        asked = self._looker.asked(call)
        if self._used + before >= self._bounds.looks:
            raise JudgingError(self._words.NOTHING_LEFT)
        return asked

    def _tell_all(self, calls: Iterable[ToolCall], answers: Mapping[str, str], more: Sequence[str]) -> None:
        left = [] if self._withdrawn else [self._words.LOOKS_LEFT.format(left=self._bounds.looks - self._used)]
        *others, last = calls
        for call in others:
            self._talk.answer(call, answers[call.id])
        self._talk.answer(last, "\n".join([answers[last.id], *more, *left]))


def asked_of(call: ToolCall, offered: Mapping[str, type[Asked]], answering: str, words: Words) -> Asked:
    """What a call asks for, of the tools that are offered beside the one to answer with.

    Raises:
        JudgingError: there is no such tool, or the arguments are not what it takes; in words for the model.
    """
    kind = offered.get(call.name)
    if kind is None:
        names = ", ".join([*offered, answering])
        raise JudgingError(words.UNKNOWN_TOOL.format(name=repr(call.name[:60]), tools=names))
    try:
        return read_strictly(call.arguments or "{}", kind)
    except JudgingError as error:
        fields = ", ".join(f"{field.name}{'' if field.required else '?'}" for field in msgspec.structs.fields(kind))
        fault, sent = bounded(str(error), 300), repr(call.arguments[:200])
        raise JudgingError(words.BAD_ARGUMENTS.format(name=call.name, fault=fault, fields=fields, sent=sent)) from error
