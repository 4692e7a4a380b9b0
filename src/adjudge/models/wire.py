"""The shape of a provider's reply, in three wire formats: what must be there, what is mended, what it consumed.

A reply is anything that arrived; nothing in it is believed. What an SDK would stumble over is mended or becomes a
`Fault`; usage and the reason for stopping are read here, since the layers above guess where a reply is silent.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from adjudge.models.faults import Fault, fault_of_status
from adjudge.models.names import Format
from adjudge.record import Usage

MOST_CALLS = 256
"""Tool calls in one reply beyond which it is taken for broken."""

Json = dict[str, Any]


class Arrived(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a reply says of itself: the usage it reports, why it stopped in the provider's word, and who answered."""

    usage: Usage | None = None
    finish: str | None = None
    model: str | None = None


def shape(format: Format, reply: Any) -> Arrived:
    """Check a reply that came with status 200, mend it in place, and say what it says of itself.

    Raises:
        Fault: it is an error in disguise, or lacks what makes it a reply.
    """
    if not isinstance(reply, dict):
        raise Fault("the reply is JSON, but no object", "broken", again=True)
    _raise_inner_error(reply)
    match format:
        case "chat":
            return _chat(reply)
        case "anthropic":
            return _anthropic(reply)
        case "gemini":
            return _gemini(reply)


def _raise_inner_error(reply: Json) -> None:
    """Some gateways send an error with status 200; its own code says which."""
    error = reply.get("error")
    if not error and reply.get("type") != "error":
        return
    code = error.get("code", error.get("status_code")) if isinstance(error, dict) else None
    code = int(code) if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) == 3 else code
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    raise fault_of_status(status, {}, reply)


# --- OpenAI chat completions, and all who speak it


def _chat(reply: Json) -> Arrived:
    choice = _first(reply.get("choices"), "choices")
    finish, message = _text(choice.get("finish_reason")), choice.get("message")
    if not isinstance(message, dict):
        if stop_of(finish, 0) == "filtered":  # some leave the message out then
            message = {}
        else:
            raise Fault("the reply's first choice has no message", "broken", again=True)
    if finish == "error":
        raise Fault("the provider broke off with an error", "broken", again=True)
    arrived = Arrived(_chat_usage(reply.get("usage")), finish, _text(reply.get("model")))
    mended = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": _chat_message(message)}
    identifier, provider = _text(reply.get("id")) or "", _text(reply.get("provider")) or ""
    reply.clear()
    reply.update(id=identifier, object="chat.completion", model=arrived.model or "", created=0, provider=provider)
    reply.update(choices=[mended])
    return arrived


def _chat_message(message: Json) -> Json:
    """What is read of a message, each of the kind that the SDK insists on."""
    calls = [_chat_call(call) for call in _list(message.get("tool_calls"))]
    _bound(calls)
    kept: Json = {"role": "assistant", "content": _chat_content(message.get("content")), "tool_calls": calls or None}
    kept["refusal"] = as_text(message.get("refusal") or None) or None
    for name in ("reasoning", "reasoning_content"):
        if text := _text(message.get(name)):
            kept[name] = text
    details = [_chat_detail(detail) for detail in _list(message.get("reasoning_details")) if isinstance(detail, dict)]
    if known := [detail for detail in details if detail.get("type") in _DETAILS]:
        kept["reasoning_details"] = known
    return kept


def _chat_content(content: Any) -> str | None:
    """The text, which some give in pieces; `None` if there is none."""
    pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in _list(content)]
    return _text(content) or "".join(piece for piece in pieces if isinstance(piece, str)) or None


_DETAILS = ("reasoning.text", "reasoning.summary", "reasoning.encrypted")


def _chat_detail(detail: Json) -> Json:
    words = ("type", "id", "format", "text", "summary", "data", "signature")
    kept: Json = {name: detail[name] for name in words if isinstance(detail.get(name), str)}
    index = _count(detail.get("index"))
    return kept if index is None else kept | {"index": index}


def _chat_call(call: Any) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise Fault("a tool call in the reply names no function", "broken", again=True)
    arguments = function.get("arguments")
    mended: Json = {
        "id": _text(call.get("id")) or "",
        "type": "function",
        "function": {"name": _text(function.get("name")) or "", "arguments": as_text(arguments)},
    }
    extra = call.get("extra_content")  # Gemini's thought signatures travel here
    return mended | {"extra_content": extra} if extra else mended


def _chat_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    sent, received = _dict(usage.get("prompt_tokens_details")), _dict(usage.get("completion_tokens_details"))
    return Usage(
        prompt=_count(usage.get("prompt_tokens")),
        cached=_count(sent.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
        written=_count(sent.get("cache_write_tokens")),
        output=_count(usage.get("completion_tokens")),
        reasoning=_count(received.get("reasoning_tokens")),
        cost=_money(usage.get("cost")),
    )


# --- Anthropic messages


def _anthropic(reply: Json) -> Arrived:
    content = reply.get("content")
    if not isinstance(content, list):
        raise Fault("the reply has no content", "broken", again=True)
    arrived = Arrived(_anthropic_usage(reply.get("usage")), _text(reply.get("stop_reason")), _text(reply.get("model")))
    blocks = [_anthropic_block(block) for block in content if isinstance(block, dict)]
    known = [block for block in blocks if block.get("type") in ("text", "thinking", "redacted_thinking", "tool_use")]
    _bound([block for block in known if block["type"] == "tool_use"])
    reply.update(content=known, id=_text(reply.get("id")) or "", type="message", role="assistant")
    reply.update(model=arrived.model or "", stop_reason="end_turn", usage={"input_tokens": 0, "output_tokens": 0})
    for name in ("container", "context_management", "diagnostics", "input_transformations", "stop_details"):
        reply.pop(name, None)
    return arrived


def _anthropic_block(block: Json) -> Json:
    match block.get("type"):
        case "text":
            return {"type": "text", "text": _text(block.get("text")) or "", "citations": None}
        case "tool_use":
            name, identifier = _text(block.get("name")) or "", _text(block.get("id")) or ""
            return {"type": "tool_use", "id": identifier, "name": name, "input": block.get("input")}
        case "thinking":
            return block | {
                "thinking": _text(block.get("thinking")) or "",
                "signature": _text(block.get("signature")) or "",
            }
        case "redacted_thinking":
            return block | {"data": _text(block.get("data")) or ""}
    return block


def _anthropic_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    fresh, cached = _count(usage.get("input_tokens")), _count(usage.get("cache_read_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    prompt = None if fresh is None else fresh + (cached or 0) + (written or 0)  # here the cached are not in the input
    return Usage(prompt=prompt, cached=cached, written=written, output=_count(usage.get("output_tokens")))


# --- Gemini generateContent


def _gemini(reply: Json) -> Arrived:
    usage, model = _gemini_usage(reply.pop("usageMetadata", None)), _text(reply.get("modelVersion"))
    blocked = _text(_dict(reply.get("promptFeedback")).get("blockReason"))
    if blocked:
        raise Fault(f"the prompt was blocked: {blocked}", "filtered")
    candidate = _first(reply.get("candidates"), "candidates")
    finish = _text(candidate.get("finishReason"))
    parts = [_gemini_part(part) for part in _list(_dict(candidate.get("content")).get("parts")) if isinstance(part, dict)]
    _bound([part for part in parts if "functionCall" in part])
    content = {"role": "model", "parts": [part for part in parts if "text" in part or "functionCall" in part]}
    reply.clear()
    reply.update(candidates=[{"content": content, "finishReason": "STOP", "index": 0}], modelVersion=model)
    return Arrived(usage, finish, model)


def _gemini_part(part: Json) -> Json:
    kinds: dict[str, type] = {"text": str, "thought": bool, "thoughtSignature": str}
    kept: Json = {name: part[name] for name, kind in kinds.items() if isinstance(part.get(name), kind)}
    call = part.get("functionCall")
    if isinstance(call, dict):
        arguments = call.get("args", {})
        if not isinstance(arguments, dict):  # the SDK takes nothing else
            arguments = {"INVALID_JSON": as_text(arguments)}
        kept["functionCall"] = {"name": _text(call.get("name")) or "", "args": arguments, "id": _text(call.get("id"))}
    return kept


def _gemini_usage(usage: Any) -> Usage | None:
    if not isinstance(usage, dict):
        return None
    answered, thought = _count(usage.get("candidatesTokenCount")), _count(usage.get("thoughtsTokenCount"))
    output = None if answered is None and thought is None else (answered or 0) + (thought or 0)
    return Usage(
        prompt=_count(usage.get("promptTokenCount")),
        cached=_count(usage.get("cachedContentTokenCount")),
        output=output,
        reasoning=thought,
    )


# --- why it stopped

_STOPS: dict[str, str] = {
    "stop": "end",
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "tool_use": "calls",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "filtered",
    "refusal": "filtered",
    "safety": "filtered",
    "recitation": "filtered",
    "blocklist": "filtered",
    "prohibited_content": "filtered",
    "spii": "filtered",
}


def stop_of(finish: str | None, calls: int) -> str:
    """Why a reply with this many calls stopped, in the words of `Reply.stop`.

    A reason that nobody knows, or none at all, is never `end`: the answer may be cut.
    """
    stop = _STOPS.get((finish or "").lower(), (finish or "missing")[:60])
    if stop == "end" and calls:
        return "calls"  # Gemini says STOP for calls too
    return finish or stop if stop == "calls" and not calls else stop


# --- small readers of values that may be anything


def as_text(value: Any) -> str:
    """A tool call's arguments as text: what was sent, if it was text."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _first(items: Any, name: str) -> Json:
    if not isinstance(items, list) or not items or not isinstance(items[0], dict):
        raise Fault(f"the reply has no {name}", "broken", again=True)
    return items[0]


def _bound(calls: list[Json]) -> None:
    if len(calls) > MOST_CALLS:
        raise Fault(f"the reply makes {len(calls)} tool calls; at most {MOST_CALLS} are taken", "broken")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _money(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6 else None
