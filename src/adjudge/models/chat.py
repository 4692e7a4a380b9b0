"""Chat completions, the format that most endpoints speak: a request in their words, and their reply in ours.

Written out here, and not left to an SDK, because it is the way of nearly every call of a pass, and an SDK's takes ten
milliseconds of CPU for each. The format is OpenAI's; fields of others are named where they are read.
"""

from __future__ import annotations

import json
import re
from secrets import token_hex
from typing import Any

import msgspec

from adjudge import __version__
from adjudge.judgment import Call
from adjudge.models.exchange import Exchange, clean
from adjudge.models.names import Endpoint
from adjudge.models.sendable import Offered, in_words, quoted
from adjudge.models.wire import Arrived, stop_of
from adjudge.ports import Message, Reply, Request, ToolCall
from adjudge.record import Usage

Json = dict[str, Any]

_CACHED = {"type": "ephemeral"}
"""Marks the end of a prefix for Anthropic's models, to which OpenRouter passes it on; others keep prefixes unasked."""

_BACK = ("reasoning_details", "reasoning", "reasoning_content")
"""Where reasoning lies in a message. The first that is there goes back as it came, signatures and all."""

LONGEST_ID = 200


class Chat:
    """Speaks to one endpoint; implements `provider.Speaker`."""

    def __init__(self, endpoint: Endpoint) -> None:
        assert endpoint.place is not None
        self._model = endpoint.model
        self._url = f"{endpoint.place}/chat/completions"
        self._marks = endpoint.provider == "openrouter" and endpoint.model.startswith("anthropic/")
        self._headers = {"Accept": "application/json", "User-Agent": f"adjudge/{__version__}"}
        if endpoint.key:
            self._headers["Authorization"] = f"Bearer {endpoint.key}"
        self._exchange = Exchange(endpoint.place, "chat")
        self._offered = Offered()

    async def ask(self, request: Request, plain: bool, came: list[Arrived]) -> Reply:
        """Ask once; with `plain` the schema of the answer is told in words. What arrived is added to `came`.

        Raises:
            Fault: no usable reply came.
        """
        body = msgspec.json.encode(self._body(request, plain))
        reply, said = await self._exchange.post(self._url, self._headers, body)
        came.append(said)
        return reply_of(reply["choices"][0]["message"], said, plain)

    async def close(self) -> None:
        """Let go of all connections."""
        await self._exchange.close()

    def _body(self, request: Request, plain: bool) -> Json:
        messages = [{"role": "system", "content": clean(request.system)}, *map(_message, request.messages)]
        if plain and request.schema is not None:
            messages.append({"role": "user", "content": in_words(request.schema)})
        body: Json = {"model": self._model, "messages": messages, "max_tokens": request.most, "stream": False}
        if request.schema is not None and not plain:
            schema = self._offered.schema(request.schema)
            answer = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": answer}
        if request.tools:
            body["tools"], body["tool_choice"] = self._offered.tools(request.tools), request.choice
        if self._marks:
            _mark(body)
        return body


# --- what is sent


def _message(message: Message) -> Json:
    match message.role:
        case "user":
            return {"role": "user", "content": quoted(message.pieces) if message.pieces else clean(message.text)}
        case "tool":
            return {"role": "tool", "tool_call_id": message.answers or "", "content": clean(message.text)}
    said: Json = {"role": "assistant", "content": clean(message.text) or None}
    kept = message.opaque.get("chat") if isinstance(message.opaque, dict) else None
    kept = kept if isinstance(kept, dict) else {}
    said |= {name: kept[name] for name in _BACK if name in kept}
    if message.calls:
        extra = kept.get("extra", {})
        said["tool_calls"] = [_call(call, extra.get(call.id)) for call in message.calls]
    return said


def _call(call: ToolCall, extra: Any) -> Json:
    arguments = clean(call.arguments) or "{}"
    function = {"name": clean(call.name), "arguments": arguments if _is_object(arguments) else _wrapped(arguments)}
    sent: Json = {"id": call.id, "type": "function", "function": function}
    return sent | {"extra_content": extra} if extra else sent


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(arguments), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _wrapped(arguments: str) -> str:
    """What a model sent in place of an object, as one: some providers take nothing else."""
    return json.dumps({"INVALID_JSON": arguments}, ensure_ascii=False)


def _mark(body: Json) -> None:
    """Ask for tools, instructions and the conversation so far to be kept for the next question."""
    first, last = body["messages"][0], body["messages"][-1]
    for message in (first, last) if last is not first else (first,):
        if message["role"] != "assistant" and message["content"]:  # a mark on an empty text is refused
            message["content"] = [{"type": "text", "text": message["content"], "cache_control": _CACHED}]
    if tools := body.get("tools"):
        body["tools"] = [*tools[:-1], {**tools[-1], "cache_control": _CACHED}]


# --- what came back


def reply_of(message: Json, said: Arrived, plain: bool) -> Reply:
    """The reply that a message is, which `wire.shape` has mended."""
    called: list[Json] = message["tool_calls"] or []
    calls = _with_own_ids(called)
    thought, text = _apart(message["content"] or "")
    refusal = message["refusal"]
    stop = "filtered" if refusal else stop_of(said.finish, len(calls))
    text = text or refusal or ""
    extra = {own.id: call["extra_content"] for own, call in zip(calls, called, strict=True) if "extra_content" in call}
    returned = Message("assistant", text, calls, opaque=_kept(message, extra))
    line = Call(said.model or "", Usage(), 0.0, plain=plain)  # the whole line is drawn up when all attempts are known
    return Reply(text, calls, stop, returned, line, _reasoning(message) or thought or None)


_THOUGHT = re.compile(r"\s*<think>(?P<thought>.*?)(?:</think>\s*(?P<text>.*)|\Z)", re.DOTALL)


def _apart(content: str) -> tuple[str, str]:
    """Thoughts that open a message between tags, as servers leave them that know nothing of the model; and the rest."""
    found = _THOUGHT.fullmatch(content)
    return (found["thought"].strip(), found["text"] or "") if found else ("", content)


def _reasoning(message: Json) -> str:
    details = [detail.get("text") or detail.get("summary") or "" for detail in message.get("reasoning_details", ())]
    return "\n\n".join(filter(None, details)) or message.get("reasoning") or message.get("reasoning_content") or ""


def _kept(message: Json, extra: Json) -> Json | None:
    """What must go back unchanged with this message; `None` if its words and calls are all there is."""
    back = next(({name: message[name]} for name in _BACK if name in message), {})
    kept = back | ({"extra": extra} if extra else {})
    return {"chat": kept} if kept else None


def _with_own_ids(calls: list[Json]) -> tuple[ToolCall, ...]:
    """The calls, every one of them with an id that no other has."""
    seen: set[str] = set()
    own = []
    for call in calls:
        identifier = call["id"]
        while not identifier or identifier in seen or len(identifier) > LONGEST_ID:
            identifier = f"call_{token_hex(8)}"
        seen.add(identifier)
        own.append(ToolCall(identifier, call["function"]["name"], call["function"]["arguments"]))
    return tuple(own)
