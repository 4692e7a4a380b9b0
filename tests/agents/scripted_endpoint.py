"""A language model's endpoint on loopback that plays scripts to agents, in the wire formats that they speak.

It never thinks and remembers nothing: which script is played is told by the model's name and the user's messages, and
which step by the number of tool results in the conversation, so that it does not matter how often an agent asks again.
A request that offers no tools (for a title, for a summary) gets the answer `Noted.`
"""

from __future__ import annotations

import asyncio
import json
import re
import types
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from .wires import anthropic, chat, gemini, responses
from .wires.values import Answer, Billed, Event, Question, Script, Step, Wire

__all__ = ["Asked", "Billed", "Script", "ScriptedEndpoint", "Step", "billed_together", "scripted", "usual"]

LARGEST = 64 << 20
"""Bytes of a request that is read."""
SIDE = Step(text="Noted.", billed=Billed(20, 0, 2))

_WIRES: Mapping[Wire, types.ModuleType] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}
_GEMINI = re.compile(r"/models/(?P<model>[^/:]+):(?P<stream>stream)?[gG]enerateContent\Z")
_ENDS: Mapping[str, Wire] = {"/chat/completions": "chat", "/responses": "responses", "/messages": "anthropic"}


def usual(step: int) -> Billed:
    """What a step bills that does not say so: the conversation grows, and all that was sent before is cached."""
    return Billed(1200 + 300 * step, 900 + 300 * step if step else 0, 30 + step)


def billed_together(steps: Sequence[Step]) -> Billed:
    """What an agent is billed that plays every step once."""
    each = [step.billed or usual(number) for number, step in enumerate(steps)]
    return Billed(sum(one.input for one in each), sum(one.cached for one in each), sum(one.output for one in each))


class Asked(msgspec.Struct, frozen=True):
    """A request as it came, and the step it got: `None` for a side answer."""

    wire: Wire
    path: str
    key: str | None
    question: Question
    step: int | None
    body: dict[str, Any]


class _Played(NamedTuple):
    number: int | None
    step: Step
    billed: Billed


class ScriptedEndpoint:
    """Where it listens, what it was asked, and which paths it was asked for that it does not know."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.url = ""
        self.requests: list[Asked] = []
        self.unknown: list[str] = []
        self._scripts = scripts
        self._ids = count()

    def steps(self) -> list[int | None]:
        """Which step every request got, in their order."""
        return [asked.step for asked in self.requests]

    async def meet(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, of whatever kind it is."""
        wire = _wire_of(request.path)
        if wire is not None and request.method == "POST":
            return await self._answer(request, wire)
        if request.path.endswith(("/count_tokens", ":countTokens")):
            tokens = len(await request.read()) // 4
            return web.json_response({"input_tokens": tokens, "totalTokens": tokens})
        if request.method in ("GET", "HEAD"):
            return web.json_response({"object": "list", "data": [], "models": []})
        self.unknown.append(f"{request.method} {request.path}")
        return web.json_response(chat.refusal(404, "There is no such endpoint."), status=404)

    async def _answer(self, request: web.Request, wire: Wire) -> web.StreamResponse:
        body = _body(await request.json(), request.path)
        question: Question = _WIRES[wire].read(body)
        played = self._play(question)
        self.requests.append(Asked(wire, request.path, _key(request), question, played.number, body))
        await asyncio.sleep(played.step.delay)
        if played.step.status is not None:
            refusal = _WIRES[wire].refusal(played.step.status, f"The script refuses with {played.step.status}.")
            return web.json_response(refusal, status=played.step.status)
        answer = Answer(str(next(self._ids)), question, played.step, played.billed)
        if question.stream:
            return await _sent(request, _lines(_WIRES[wire].events(answer)), "text/event-stream", played.step.cut)
        data = json.dumps(_WIRES[wire].whole(answer)).encode()
        return await _sent(request, (data[:100], data[100:]), "application/json", played.step.cut)

    def _play(self, question: Question) -> _Played:
        script = next((script for script in self._scripts if _plays(script, question)), None)
        if script is None or not question.offered:
            return _Played(None, SIDE, SIDE.billed or usual(0))
        number = _number(script.steps, question.results)
        step = script.steps[number]
        return _Played(number, step, step.billed or usual(number))


@asynccontextmanager
async def scripted(steps: Sequence[Step] | Sequence[Script]) -> AsyncIterator[ScriptedEndpoint]:
    """An endpoint while the context lasts: for one task its steps, for several a script for each."""
    scripts = [each for each in steps if isinstance(each, Script)]
    endpoint = ScriptedEndpoint(scripts or [Script(tuple(each for each in steps if isinstance(each, Step)))])
    app = web.Application(client_max_size=LARGEST)
    app.router.add_route("*", "/{path:.*}", endpoint.meet)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        endpoint.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield endpoint
    finally:
        await runner.cleanup()


def _wire_of(path: str) -> Wire | None:
    if _GEMINI.search(path):
        return "gemini"
    return next((wire for end, wire in _ENDS.items() if path.endswith(end)), None)


def _body(body: dict[str, Any], path: str) -> dict[str, Any]:
    """A request's body; of Google's format some of it stands in the path."""
    found = _GEMINI.search(path)
    return body if found is None else {**body, "model": found["model"], "stream": bool(found["stream"])}


def _key(request: web.Request) -> str | None:
    """The key that came with a request, in the header of its format."""
    bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bearer or request.headers.get("x-api-key") or request.headers.get("x-goog-api-key")


def _plays(script: Script, question: Question) -> bool:
    named = script.model in (None, question.model)
    return named and any(re.search(script.match, text) for text in question.said)


def _number(steps: Sequence[Step], results: int) -> int:
    """The step after those whose calls brought so many results; the last one is played again."""
    for number, step in enumerate(steps):
        if not step.calls or results < len(step.calls):
            return number
        results -= len(step.calls)
    return len(steps) - 1


def _lines(events: Iterable[Event]) -> list[bytes]:
    """Server-sent events as they go over the wire."""
    return ["".join((f"event: {name}\n" * bool(name), "data: ", _line(data), "\n\n")).encode() for name, data in events]


def _line(data: dict[str, Any] | str) -> str:
    return data if isinstance(data, str) else json.dumps(data)


async def _sent(request: web.Request, pieces: Sequence[bytes], kind: str, cut: bool) -> web.StreamResponse:
    """An answer piece by piece, or the first half of them and then the end of the connection."""
    response = web.StreamResponse(headers={"Content-Type": kind})
    if kind == "application/json":
        response.content_length = sum(map(len, pieces))
    await response.prepare(request)
    for piece in pieces[: len(pieces) // 2] if cut else pieces:
        await response.write(piece)
    if not cut:
        await response.write_eof()
    elif request.transport is not None:
        request.transport.close()
    return response
