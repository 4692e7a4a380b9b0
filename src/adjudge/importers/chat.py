"""Plain chat messages in the shapes of OpenAI and Anthropic, however they were put into a file.

One object with `messages` (also a LiteLLM log, whose `response` is the last message, and tau-bench's `traj`), a bare list
of messages, a list of such objects, or JSON Lines of objects or of messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError
from adjudge.importers.build import Lost, RecordBuilder, main_model, run_id
from adjudge.importers.chat_messages import ChatReader, content_text, usage_of
from adjudge.importers.documents import BOM, beginning, read_document, read_items
from adjudge.importers.documents_values import listing, mapping, moment, number, text
from adjudge.importers.jsonl import Report, is_lines, opened, rows
from adjudge.record import Unparsed
from adjudge.run import Outcome, Run

_CONTENTS = frozenset({"content", "tool_calls", "function_call"})
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})

Messages = Iterable[tuple[str, dict[str, Any]]]


class Chat:
    """The widest importer: it must be asked last."""

    name = "chat"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the file begins with a message, an object that holds messages, or a list of either."""
        value = beginning(head) if path.is_file() else None
        first = value[0] if isinstance(value, list) and value else value
        return _is_message(first) or _is_conversation(first)

    def runs(self, path: Path) -> Iterator[Run]:
        """One run for each conversation.

        Raises:
            InputError: no message can be read.
        """
        lost = Lost()
        if is_lines(path):
            yield from _runs_of(path, rows(path, lost.add), lost)
        elif _is_list(path):
            yield from _runs_of(path, read_items(read_document(path, list[msgspec.Raw]), path.name, lost.add), lost)
        else:
            held = read_document(path, _Conversation)
            messages = read_items(held.messages or held.traj, f"{path.name}:messages", lost.add)
            yield _run(str(path), messages, msgspec.structs.asdict(held), lost)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and text(value.get("role")) in ROLES and not _CONTENTS.isdisjoint(value)


def _is_conversation(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(held := value.get(key), list) and held and _is_message(held[0]) for key in ("messages", "traj")
    )


def _is_list(path: Path) -> bool:
    with opened(path) as file:
        return file.read(1 << 16).removeprefix(BOM).lstrip().startswith(b"[")


class _Conversation(msgspec.Struct):
    """An object with messages, and what may stand beside them."""

    messages: list[msgspec.Raw] = []
    traj: list[msgspec.Raw] = []
    system: Any = None
    model: Any = None
    response: Any = None
    cost: Any = None
    timestamp: Any = None
    reward: Any = None


def _runs_of(path: Path, objects: Iterator[tuple[str, dict[str, Any]]], lost: Lost) -> Iterator[Run]:
    """One run of objects that are messages; of objects that hold messages one each."""
    first = next(objects, None)
    if first is None:
        raise InputError(f"{path}: holds no message; expected objects with a role or with messages")
    if _is_message(first[1]):
        yield _run(str(path), itertools.chain([first], objects), {}, lost)
        return
    place, held = first
    for following in objects:  # a run is given when the next one is known, so that what is lost between them is its own
        yield _run(str(path.with_name(place)), _held(place, held, lost.add), held, lost)
        place, held = following
    yield _run(str(path.with_name(place)), _held(place, held, lost.add), held, lost)


def _held(place: str, held: dict[str, Any], report: Report) -> Messages:
    for index, message in enumerate(listing(held.get("messages") or held.get("traj"))):
        if isinstance(message, dict):
            yield f"{place}:messages[{index}]", message
        else:
            report(Unparsed(f"{place}:messages[{index}]", f"a JSON {type(message).__name__}, not an object"))


def _run(source: str, messages: Messages, beside: dict[str, Any], lost: Lost) -> Run:
    builder = RecordBuilder("chat")
    reader = ChatReader(builder)
    if system := content_text(beside.get("system")):
        builder.message("harness", system, origin="system")
    for place, message in messages:
        reader.add(place, message, moment(message.get("timestamp")))
    _add_response(reader, beside)
    lost.give(builder)
    record = builder.finish()
    model = main_model(record.turns) or text(beside.get("model")) or None
    return Run(
        id=run_id(record, None, model),
        record=record,
        source=source,
        task=reader.task,
        model=model,
        outcome=_outcome(beside.get("reward")),
    )


def _add_response(reader: ChatReader, beside: dict[str, Any]) -> None:
    """The answer to the messages, where a log of one exchange keeps it beside them."""
    response = mapping(beside.get("response"))
    choice = mapping(next(iter(listing(response.get("choices"))), None))
    if message := mapping(choice.get("message")):
        usage = usage_of(response.get("usage"), beside.get("cost"))
        stop, model = text(choice.get("finish_reason")) or None, text(response.get("model")) or None
        reader.assistant(message, usage, model, stop, moment(beside.get("timestamp")))
        reader.builder.use()


def _outcome(given: Any) -> Outcome:
    reward = number(given)
    return Outcome() if reward is None else Outcome(grade="resolved" if reward >= 1 else "unresolved", reward=reward)
