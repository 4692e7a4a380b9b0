"""OpenAI's Responses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .chat import refusal
from .values import Answer, Event, Question, text_of

__all__ = ["events", "read", "refusal", "whole"]


def read(body: dict[str, Any]) -> Question:
    """The question in a request's body."""
    given = body["input"]
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    return Question(
        body["model"],
        {tool["name"]: tool["type"] for tool in body.get("tools") or () if tool["type"] in ("function", "custom")},
        tuple(text_of(item.get("content")) for item in items if item.get("role") == "user"),
        sum(item.get("type", "").endswith("_call_output") for item in items),
        bool(body.get("stream")),
    )


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    cut = bool(answer.step.finish)
    return {
        "id": f"resp_{answer.id}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": answer.question.model,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "output": list(_items(answer)),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(answer),
    }


def events(answer: Answer) -> Iterator[Event]:
    """The answer as a stream of numbered events."""
    for number, (name, data) in enumerate(_told(answer)):
        yield Event(name, {"type": name, "sequence_number": number, **data})


def _told(answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    response = whole(answer)
    yield "response.created", {"response": {**response, "status": "in_progress", "output": [], "usage": None}}
    for place, item in enumerate(response["output"]):
        yield "response.output_item.added", {"output_index": place, "item": _begun(item)}
        if item["type"] == "message":
            yield from _text(place, item)
        yield "response.output_item.done", {"output_index": place, "item": item}
    yield f"response.{response['status']}", {"response": response}


def _begun(item: dict[str, Any]) -> dict[str, Any]:
    """An item of which nothing was told yet."""
    empty = {"content": [], "summary": [], "arguments": "", "input": "", "status": "in_progress"}
    return {key: empty.get(key, value) for key, value in item.items()}


def _text(place: int, item: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    (part,) = item["content"]
    where = {"output_index": place, "content_index": 0, "item_id": item["id"]}
    yield "response.content_part.added", {**where, "part": {**part, "text": ""}}
    yield "response.output_text.delta", {**where, "delta": part["text"], "logprobs": []}
    yield "response.output_text.done", {**where, "text": part["text"], "logprobs": []}
    yield "response.content_part.done", {**where, "part": part}


def _items(answer: Answer) -> Iterator[dict[str, Any]]:
    """What the model put out, item by item."""
    if answer.step.reasoning:
        summary = [{"type": "summary_text", "text": answer.step.reasoning}]
        yield {"type": "reasoning", "id": f"rs_{answer.id}", "summary": summary, "encrypted_content": None}
    if answer.step.text:
        content = [{"type": "output_text", "text": answer.step.text, "annotations": []}]
        message = {"type": "message", "id": f"msg_{answer.id}", "role": "assistant"}
        yield {**message, "status": "incomplete" if answer.step.finish else "completed", "content": content}
    for id, name, arguments in answer.calls():
        call = {"id": f"fc_{id}", "call_id": id, "name": name, "status": "completed"}
        if answer.question.offered.get(name) == "custom":
            yield {"type": "custom_tool_call", **call, "input": arguments}
        else:
            yield {"type": "function_call", **call, "arguments": json.dumps(arguments)}


def _usage(answer: Answer) -> dict[str, Any]:
    billed = answer.billed
    return {
        "input_tokens": billed.input,
        "input_tokens_details": {"cached_tokens": billed.cached},
        "output_tokens": billed.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": billed.input + billed.output,
    }
