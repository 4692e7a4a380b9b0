"""Google's generateContent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .values import Answer, Event, Question, text_of


def read(body: dict[str, Any]) -> Question:
    """The question in a request's body, to which the server has added `model` and `stream` from the request's path."""
    parts = [part for content in body["contents"] if content.get("role", "user") == "user" for part in content["parts"]]
    declared = [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]
    return Question(
        body["model"],
        {one["name"]: "function" for one in declared},
        tuple(text_of(part) for part in parts if "functionResponse" not in part),
        sum("functionResponse" in part for part in parts),
        body["stream"],
    )


def whole(answer: Answer) -> dict[str, Any]:
    """The answer in one piece."""
    candidate = {
        "index": 0,
        "content": {"role": "model", "parts": list(_parts(answer))},
        "finishReason": answer.stop("STOP", "STOP", "MAX_TOKENS"),
    }
    return {
        "candidates": [candidate],
        "usageMetadata": _usage(answer),
        "modelVersion": answer.question.model,
        "responseId": answer.id,
    }


def events(answer: Answer) -> Iterator[Event]:
    """The answer as a stream: its parts one by one; the last event says why it ended and what it costs."""
    complete = whole(answer)
    (candidate,) = complete["candidates"]
    *parts, last = candidate["content"]["parts"] or [{"text": ""}]
    head = {key: complete[key] for key in ("modelVersion", "responseId")}
    for part in parts:
        yield Event(None, {**head, "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}}]})
    yield Event(None, {**complete, "candidates": [{**candidate, "content": {"role": "model", "parts": [last]}}]})


def refusal(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}


def _parts(answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.step.reasoning:
        yield {"text": answer.step.reasoning, "thought": True}
    if answer.step.text:
        yield {"text": answer.step.text}
    for id, name, arguments in answer.calls():
        yield {"functionCall": {"id": id, "name": name, "args": arguments}}


def _usage(answer: Answer) -> dict[str, Any]:
    billed = answer.billed
    return {
        "promptTokenCount": billed.input,
        "cachedContentTokenCount": billed.cached,
        "candidatesTokenCount": billed.output,
        "totalTokenCount": billed.input + billed.output,
    }
