"""Google's content parts, as Gemini CLI and Qwen Code keep them: texts, thoughts, calls, what came back, and usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjudge.importers.build import RecordBuilder, media, text_of
from adjudge.importers.documents_values import count, listing, mapping, text
from adjudge.importers.injected import add_message
from adjudge.record import Usage

SHELL = "run_shell_command"
"""The tool of either that runs commands."""

FAILED = frozenset({"error", "cancelled"})
"""Words of either for a call that was not carried out."""

_REFERENCED = "--- Content from referenced files ---"
"""The part after which the harness adds the files that a user's message names."""


def parts_of(content: Any) -> list[dict[str, Any]]:
    """The parts of a content that may be a text, a part, a list of either, or anything else."""
    if isinstance(content, list):
        return [part if isinstance(part, dict) else {"text": text_of(part)} for part in content]
    return [content] if isinstance(content, dict) else [{"text": text_of(content)}] if content is not None else []


def part_text(part: dict[str, Any]) -> str:
    """A part as text; images and files by their kind, size and hash, anything unknown as JSON."""
    if isinstance(part.get("text"), str):
        return text(part["text"])
    data, file = mapping(part.get("inlineData")), mapping(part.get("fileData"))
    if isinstance(data.get("data"), str):
        return media(text(data.get("mimeType")) or "data", data["data"])
    if file:
        return f"[{text(file.get('mimeType')) or 'file'} {text(file.get('fileUri'))}]"
    return text_of(part)


def returned_text(parts: Any, key: str) -> str:
    """What came back for the call with this id; parts that answer other calls are left out."""
    found = []
    for part in parts_of(parts):
        response = mapping(part.get("functionResponse"))
        if not response:
            found.append(part_text(part))
        elif text(response.get("id")) in ("", key):
            found += [_response_text(response.get("response")), *map(part_text, parts_of(response.get("parts")))]
    return "\n".join(found)


def _response_text(response: Any) -> str:
    held = mapping(response)
    for name in ("output", "error"):
        if set(held) == {name}:
            return text_of(held[name])
    return text_of(response)


def is_failure(status: Any) -> bool | None:
    """Whether the harness's word for a call's ending means that it failed; `None` if it has none."""
    return None if not isinstance(status, str) else True if status in FAILED else False if status == "success" else None


def add_user(builder: RecordBuilder, parts: list[dict[str, Any]], time: str | None, origin: str | None = None) -> str:
    """Add a user's message, and give back what the user wrote. With an `origin` the harness wrote all of it."""
    written = []
    for part in parts:
        words = part_text(part)
        if words.strip() == _REFERENCED:
            origin = origin or "file"
        written.append(add_message(builder, words, time, origin))
    return "\n".join(filter(None, written))


def add_untold(builder: RecordBuilder, name: str, status: str, turn: int | None = None, time: str | None = None) -> None:
    """Note how a call ended of which the recording does not hold what it returned; its call stays without a result."""
    builder.event(f"{name}: {status or 'ended'}; what it returned is not in this recording", "untold", turn, time)


def usage_of(prompt: Any, output: Any, cached: Any, thoughts: Any, total: Any, tool: Any = None) -> Usage | None:
    """The usage of one response. Google's output leaves the thoughts out, OpenAI's counts them in: the total tells."""
    sent, received, thought = count(prompt), count(output), count(thoughts)
    if sent is None and received is None:
        return None
    if sent is not None:
        sent += count(tool) or 0
    if received is not None and thought and count(total) != (sent or 0) + received:
        received += thought
    return Usage(sent, count(cached), None, received, thought)


def calls_in(parts: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    """The id, the tool and the arguments of each call among the parts."""
    for part in parts:
        if call := mapping(part.get("functionCall")):
            yield text(call.get("id")), text(call.get("name")) or "unnamed", call.get("args")


def thoughts_in(thoughts: Any) -> Iterator[str]:
    """Summaries of thoughts, each with its subject."""
    for thought in map(mapping, listing(thoughts)):
        if words := "\n".join(filter(None, (text(thought.get("subject")), text(thought.get("description"))))):
            yield words
