"""Asking a question over a store, and an answer whatever comes of it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from functools import cache
from secrets import token_hex
from typing import Any

from adjudge.asking import prompt
from adjudge.asking.answers import Given, answer_tool
from adjudge.asking.looks import Looker, shown_look
from adjudge.asking.loop import LOOKS, Decided, Loop, cost_of
from adjudge.asking.overview import overview
from adjudge.asking.seen import Seen
from adjudge.asking.source import Source
from adjudge.asking.steering import attempts
from adjudge.asking.tools import look_tools
from adjudge.asking.values import Asking, Look, Progress, Untold
from adjudge.errors import InputError, JudgingError, ModelError
from adjudge.judges.evaluator.conversation import Conversation, clean
from adjudge.judges.evaluator.tools import schema_of
from adjudge.judges.evaluator.views import Envelope
from adjudge.judges.rows import VERSION, Clock, failure_of, utc_now
from adjudge.judgment import Failure
from adjudge.ports import Model
from adjudge.store.found import totals
from adjudge.store.store import Store
from adjudge.untrusted import one_line, shown

LONGEST_QUESTION = 4_000
LONGEST_REASON = 500

NOTHING_STANDS = "No answer that rests on anything: nothing of what the model said could be found again in the store."
EMPTY = "anything, as it holds no run yet"

ENDED = {
    "timeout": "The model did not answer in time",
    "budget": "The budget for this question is used up",
    "context": "The conversation is too long for the model",
    "filtered": "The model or its provider refused to answer",
}
"""How an asking ends for which the model could not be had, by `ModelError.kind`."""


@cache
def fingerprint() -> str:
    """A SHA-256 over every word that the model may be told and every tool it may be offered."""
    return prompt.fingerprint([*look_tools(), answer_tool()])


async def ask(
    question: str,
    store: Store,
    model: Model,
    *,
    mask: bool = True,
    nonce: str | None = None,
    clock: Clock = utc_now,
    on_progress: Callable[[Progress], None] | None = None,
) -> Asking:
    """Answer a question over a store. What goes wrong outside becomes an asking with status `errored`.

    `nonce` fixes the envelope's token, for a recorded exchange. `on_progress` is called in the event loop before each
    question to the model and after each look, and must not block. If this is cancelled, looks that are under way end.

    Raises:
        InputError: there is no question, or it is too long.
        OutsideError: the store cannot be read.
    """
    if not question.strip() or len(question) > LONGEST_QUESTION:
        raise InputError(f"a question has 1 to {LONGEST_QUESTION} characters; this has {len(question.strip())}")
    gone = threading.Event()
    try:
        source = Source(store, mask, gone.is_set)
        return await _Attempt(question, source, model, nonce or token_hex(8), clock, on_progress or _keep_silent).asking()
    finally:
        gone.set()


def _keep_silent(_: Progress) -> None:
    """Report to nobody."""


class _Attempt:
    """One asking in the making."""

    def __init__(
        self,
        question: str,
        source: Source,
        model: Model,
        nonce: str,
        clock: Clock,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._question = shown(question.strip(), source.mask)
        self._source, self._model, self._nonce, self._on_progress = source, model, nonce, on_progress
        self._envelope = Envelope(nonce, source.mask)
        self._seen = Seen(source.store)
        self._talk = Conversation(model, prompt.SYSTEM, (*look_tools(), answer_tool()), schema_of(Given))
        self._started, self._began = clock().isoformat(timespec="milliseconds"), time.monotonic()

    async def asking(self) -> Asking:
        """Look the store over, and ask the model if there is anything to ask about."""
        held = await asyncio.to_thread(totals, self._source.store)
        first = await asyncio.to_thread(overview, self._source, held)
        self._seen.add(first)
        if not held.runs:
            return self._made(None, status="answered", untold=(Untold(EMPTY, (first.id,)),))
        self._talk.tell(self._opening(first))
        decided, failure, reason = await self._outcome()
        given = decided.given if decided else None
        looks = tuple(self._seen.looks.values())
        found = {"steering": await asyncio.to_thread(attempts, looks, given, self._seen)}
        if decided is None:
            return self._made(None, status="errored", failure=failure, reason=reason, **found)
        return self._made(decided, **found)

    def _opening(self, first: Look) -> str:
        parts = (
            prompt.QUESTION.format(question=self._question),
            prompt.BOUNDS.format(looks=LOOKS),
            prompt.MARKERS.format(nonce=self._nonce),
            shown_look(first, self._envelope),
        )
        return "\n\n".join(parts)

    async def _outcome(self) -> tuple[Decided | None, Failure | None, str]:
        """What was answered, or nothing, the sort of failure, and one sentence why."""
        looker = Looker(self._source, self._seen)
        loop = Loop(self._question, self._seen, looker, self._talk, self._envelope, self._source.mask, self._on_progress)
        try:
            return await loop.run(), None, ""
        except ModelError as error:
            return None, failure_of(error), f"{ENDED.get(error.kind, 'The model could not be had')}: {_brief(error)}"
        except JudgingError as error:
            return None, "judge_parse_failed", _brief(error)

    def _made(self, decided: Decided | None, **found: Any) -> Asking:
        if decided is not None:
            checked = decided.checked
            stands = bool(checked.statements or checked.untold)
            found |= {"statements": checked.statements, "untold": checked.untold, "unsupported": checked.unsupported}
            found |= {"decided": decided.how, "status": "answered" if stands else "unanswered"}
            found |= {} if stands else {"reason": NOTHING_STANDS}
        return Asking(
            id=f"q-{token_hex(8)}",
            question=self._question,
            model=self._model.name,
            prompt=fingerprint(),
            version=VERSION,
            started=self._started,
            seconds=round(time.monotonic() - self._began, 3),
            looks=tuple(self._seen.looks.values()),
            steps=tuple(self._talk.steps),
            calls=tuple(self._talk.calls),
            cost=cost_of(self._talk.calls),
            masked=len(self._envelope.masked),
            **found,
        )


def _brief(error: Exception) -> str:
    return clean(one_line(shown(str(error)), LONGEST_REASON))
