"""Between the values of `ports` and those of pydantic-ai's model layer, both ways.

This module imports pydantic-ai, which takes seconds: import it only where a model is about to be asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from secrets import token_hex
from typing import Any

from pydantic import ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from adjudge.models.exchange import clean
from adjudge.models.sendable import in_words, sendable
from adjudge.models.wire import as_text
from adjudge.ports import Message, Request, ToolCall


def messages_of(request: Request, plain: bool) -> list[ModelMessage]:
    """The conversation; with `plain`, the schema of the answer is part of its last message."""
    messages: list[ModelMessage] = []
    parts: list[ModelRequestPart] = [SystemPromptPart(clean(request.system))]
    for message in request.messages:
        if message.role == "assistant":
            messages += [ModelRequest(parts), _response(message)] if parts else [_response(message)]
            parts = []
        else:
            parts.append(_part(message))
    if plain and request.schema is not None:
        parts.append(UserPromptPart(in_words(request.schema)))
    return [*messages, ModelRequest(parts)] if parts else messages


def _part(message: Message) -> ModelRequestPart:
    if message.role == "user":
        return UserPromptPart(clean(message.text))
    return ToolReturnPart(clean(message.name or ""), clean(message.text), message.answers or "")


def _response(message: Message) -> ModelResponse:
    kept = _kept(message.opaque)
    if kept is not None:
        return kept
    texts = [TextPart(clean(message.text))] if message.text else []
    return ModelResponse([*texts, *(ToolCallPart(call.name, clean(call.arguments), call.id) for call in message.calls)])


def _kept(opaque: Any) -> ModelResponse | None:
    """The response as its provider made it, if the message carries it."""
    if not isinstance(opaque, dict) or "response" not in opaque:
        return None
    try:
        (message,) = ModelMessagesTypeAdapter.validate_python([opaque["response"]])
    except (ValidationError, ValueError):
        return None  # written by another version of that library: the words and calls are in the message too
    return message if isinstance(message, ModelResponse) else None


def parameters_of(request: Request, plain: bool) -> ModelRequestParameters:
    """The tools, and the schema of the answer unless `plain`."""
    schema = None if plain else request.schema
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=tool.parameters)
            for tool in request.tools
        ],
        output_mode="text" if schema is None else "native",
        output_object=None if schema is None else OutputObjectDefinition(json_schema=sendable(schema), name="answer"),
    )


def settings_of(request: Request) -> ModelSettings:
    """Bounds and choices; temperature and thinking stay as the provider has them."""
    settings = ModelSettings(max_tokens=request.most, cache=True)
    if request.tools:
        settings["tool_choice"] = request.choice
    return settings


def with_own_ids(response: ModelResponse) -> tuple[ToolCall, ...]:
    """The calls of a response, after every one of them has been given an id that no other has.

    The response is changed in place, so that what goes back to the provider agrees with what the caller answers.
    """
    seen: set[str] = set()
    calls = []
    for part in (part for part in response.parts if isinstance(part, ToolCallPart)):
        while not part.tool_call_id or part.tool_call_id in seen or len(part.tool_call_id) > 200:
            part.tool_call_id = f"call_{token_hex(8)}"
        seen.add(part.tool_call_id)
        if part.args is not None and not isinstance(part.args, str | dict):
            part.args = as_text(part.args)
        calls.append(ToolCall(part.tool_call_id, part.tool_name, as_text(part.args)))
    return tuple(calls)


def text_of(response: ModelResponse) -> str:
    """What was said, without the reasoning."""
    return _joined(part.content for part in response.parts if isinstance(part, TextPart))


def reasoning_of(response: ModelResponse) -> str | None:
    """What was thought aloud, if anything."""
    return _joined(part.content for part in response.parts if isinstance(part, ThinkingPart)) or None


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def opaque_of(response: ModelResponse) -> Any:
    """What must go back unchanged with this message, as JSON; `None` if its words and calls are all there is."""
    if not any(isinstance(part, ThinkingPart) or getattr(part, "provider_details", None) for part in response.parts):
        return None
    (kept,) = ModelMessagesTypeAdapter.dump_python([response], mode="json")
    for name in ("usage", "timestamp", "metadata", "provider_details", "run_id", "conversation_id"):
        kept.pop(name, None)
    return {"response": kept}
