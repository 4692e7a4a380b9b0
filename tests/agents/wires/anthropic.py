"""Anthropic's Messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .values import Answer, Event, Question, text_of


def read(body: dict[str, Any]) -> Question:
    """The question in a request's body."""
    mine = [message["content"] for message in body["messages"] if message["role"] == "user"]
    parts = [part for content in mine if isinstance(content, list) for part in content]
    return Question(
        body["model"],
        {tool["name"]: "function" for tool in body.get("tools") or ()},
        tuple(text_of(content) for content in mine),
        sum(part["type"] == "tool_result" for part in parts),
        bool(body.get("stream")),
    )


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    return {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.question.model,
        "content": list(_blocks(answer)),
        "stop_reason": answer.stop("end_turn", "tool_use", "max_tokens"),
        "stop_sequence": None,
        "usage": _usage(answer),
    }


def events(answer: Answer) -> Iterator[Event]:
    """The answer as a stream: the message without its blocks, each block in pieces, then why it ended."""
    for name, data in _told(answer):
        yield Event(name, {"type": name, **data})


def refusal(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "status": status}


def _told(answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    message = whole(answer)
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield "message_start", {"message": begun}
    for index, block in enumerate(message["content"]):
        empty, deltas = _pieces(block)
        yield "content_block_start", {"index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"delta": delta, "usage": message["usage"]}
    yield "message_stop", {}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block with nothing in it, and the pieces that fill it."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "tool_use":
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    thought = {"type": "thinking_delta", "thinking": block["thinking"]}
    signed = {"type": "signature_delta", "signature": block["signature"]}
    return {**block, "thinking": "", "signature": ""}, [thought, signed]


def _blocks(answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.step.reasoning:
        yield {"type": "thinking", "thinking": answer.step.reasoning, "signature": "c2NyaXB0ZWQ="}
    if answer.step.text:
        yield {"type": "text", "text": answer.step.text}
    for id, name, arguments in answer.calls():
        yield {"type": "tool_use", "id": f"toolu_{id}", "name": name, "input": arguments}


def _usage(answer: Answer) -> dict[str, Any]:
    """Anthropic counts what came from the cache beside the input, not in it."""
    billed = answer.billed
    return {
        "input_tokens": billed.input - billed.cached,
        "cache_read_input_tokens": billed.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": billed.output,
    }
