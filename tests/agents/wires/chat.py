"""OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .values import Answer, Event, Question, text_of


def read(body: dict[str, Any]) -> Question:
    """The question in a request's body."""
    messages = body["messages"]
    return Question(
        body["model"],
        {tool["function"]["name"]: "function" for tool in body.get("tools") or ()},
        tuple(text_of(message.get("content")) for message in messages if message["role"] == "user"),
        sum(message["role"] == "tool" for message in messages),
        bool(body.get("stream")),
    )


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    choice = {"index": 0, "message": _message(answer), "finish_reason": answer.stop("stop", "tool_calls", "length")}
    return {**_head(answer, "chat.completion"), "choices": [choice], "usage": _usage(answer)}


def events(answer: Answer) -> Iterator[Event]:
    """The answer as a stream: a chunk for each part of the message, then why it ended, then what it costs."""
    head = _head(answer, "chat.completion.chunk")
    for key, value in _message(answer).items():
        yield Event(None, {**head, "choices": [{"index": 0, "delta": {key: value}, "finish_reason": None}]})
    stop = answer.stop("stop", "tool_calls", "length")
    yield Event(None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]})
    yield Event(None, {**head, "choices": [], "usage": _usage(answer)})
    yield Event(None, "[DONE]")


def refusal(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": str(status)}}


def _head(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.id}", "object": kind, "created": 1_700_000_000, "model": answer.question.model}


def _message(answer: Answer) -> dict[str, Any]:
    calls = [
        {"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (id, name, arguments) in enumerate(answer.calls())
    ]
    message = {"role": "assistant", "content": answer.step.text or None}
    given = {"reasoning_content": answer.step.reasoning, "tool_calls": calls}
    return message | {key: value for key, value in given.items() if value}


def _usage(answer: Answer) -> dict[str, Any]:
    billed = answer.billed
    return {
        "prompt_tokens": billed.input,
        "completion_tokens": billed.output,
        "total_tokens": billed.input + billed.output,
        "prompt_tokens_details": {"cached_tokens": billed.cached},
    }
