"""A session of OpenCode, message by message, into a record.

A message has an `info` object and parts. An assistant's message is one model response, from `step-start` to `step-finish`;
older versions put several such steps into one message.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adjudge.importers.build import RecordBuilder, count_of, run_id
from adjudge.importers.documents_values import amount, attachment, count, listing, mapping, moment, text
from adjudge.record import Record, Unparsed, Usage
from adjudge.run import Outcome, Run

Part = tuple[str, dict[str, Any]]
"""Where a part stands in the recording, and the part."""

MILLISECOND = 0.001

_SKIPPED = frozenset({"snapshot", "step-start", "agent"})
"""Parts that hold nothing for a judge: states of a shadow repository, beginnings, names of agents."""

_ERRORS = {
    "APIError": "api-error",
    "ProviderAuthError": "api-error",
    "ContextOverflowError": "api-error",
    "MessageOutputLengthError": "token-limit",
    "MessageAbortedError": "interrupted",
}
"""Errors that end a message, and the origins of their events."""


class Session:
    """Takes the messages of a session in order."""

    def __init__(self, format: str, prefix: str = "", label: str | None = None) -> None:
        self.builder = RecordBuilder(format, prefix, label)
        self.task: str | None = None
        self.model: str | None = None
        self.ending: str | None = None
        self._step = 0
        self._message: dict[str, Any] = {}
        self._finished = False

    def add(self, info: dict[str, Any], parts: Iterable[Part]) -> None:
        """Add a message: its `info` and its parts with their places."""
        self._message, self._step, self._finished = info, 0, False
        take = self._users if info.get("role") == "user" else self._agents
        for place, part in parts:
            take(place, part)
        if info.get("role") != "user":
            self._end(info)

    def finish(self) -> Record:
        """The record of the session."""
        return self.builder.finish()

    # --- the user's messages

    def _users(self, place: str, part: dict[str, Any]) -> None:
        kind, time = part.get("type"), self._time(part)
        if kind == "text" and part.get("ignored"):
            self.builder.skip("ignored")
        elif kind == "text" and part.get("synthetic"):
            self._used(self.builder.message("harness", text(part.get("text")), time=time, origin="synthetic"))
        elif kind == "text":
            self.task = self.task or unquoted(text(part.get("text")))
            self._used(self.builder.message("user", text(part.get("text")), time=time))
        elif kind == "file":
            self._used(self.builder.message("user", _file(part), time=time))
        elif kind == "subtask":
            self._used(self.builder.message("user", text(part.get("prompt")), time=time, origin="subtask"))
        else:
            self._others(place, part)

    # --- the agent's messages

    def _agents(self, place: str, part: dict[str, Any]) -> None:
        kind = part.get("type")
        if kind == "step-start":
            self._respond(True)
        if kind == "text":
            self._said(part)
        elif kind == "reasoning":
            self._thought(part)
        elif kind == "tool":
            self._respond()
            self._called(part)
        elif kind == "step-finish":
            self._finish_step(part.get("tokens"), part.get("cost"), part.get("reason"))
            self.builder.use()
        else:
            self._others(place, part)

    def _respond(self, new: bool = False) -> None:
        if self._step and not new:
            return
        self._step += 1
        created = mapping(self._message.get("time")).get("created")
        self.model = _model(self._message) or self.model
        self.builder.respond(self._key(), model=_model(self._message), time=moment(created, MILLISECOND))

    def _key(self) -> str:
        return f"{self._message.get('id')}#{self._step}"

    def _finish_step(self, tokens: Any, cost: Any, reason: Any) -> None:
        self._respond()
        self._finished = True
        self.ending = text(reason) or self.ending
        self.builder.respond(self._key(), usage=usage_of(tokens, cost), stop=text(reason) or None)

    def _end(self, info: dict[str, Any]) -> None:
        """What the message's own `info` adds: usage if no step stated it, and the error that ended it."""
        usage = usage_of(info.get("tokens"), info.get("cost"))
        if not self._finished and usage and (usage.prompt or usage.output):
            self._finish_step(info.get("tokens"), info.get("cost"), info.get("finish"))
        if error := mapping(info.get("error")):
            told = _error(error)
            self.ending = told[:500]
            self.builder.event(told, _ERRORS.get(text(error.get("name")), "error"), time=self._time({}))

    def _said(self, part: dict[str, Any]) -> None:
        words = text(part.get("text"))
        if not words:
            self.builder.skip("empty text")
            return
        self._respond()
        if self._message.get("summary") is True:
            self._used(self.builder.message("harness", words, time=self._time(part), origin="summary"))
        else:
            self._used(self.builder.message("agent", words, time=self._time(part)))

    def _thought(self, part: dict[str, Any]) -> None:
        self._respond()
        if words := text(part.get("text")):
            self._used(self.builder.reasoning(words, time=self._time(part)))
        else:
            self.builder.skip("empty reasoning")

    def _called(self, part: dict[str, Any]) -> None:
        state, name = mapping(part.get("state")), text(part.get("tool")) or "unnamed"
        times, key = mapping(state.get("time")), text(part.get("callID")) or text(part.get("id"))
        given = state.get("input")
        arguments = given if given not in (None, {}) or not text(state.get("raw")) else state["raw"]
        self._used(self.builder.call(key, name, arguments, time=moment(times.get("start"), MILLISECOND)))
        if state.get("status") not in ("completed", "error"):
            return
        self.builder.result(
            key,
            _outcome(state),
            name=name,
            exit_status=count_of(mapping(state.get("metadata")).get("exit")),
            is_error=state["status"] == "error" or name == "invalid",
            time=moment(times.get("end"), MILLISECOND),
        )

    # --- parts of either

    def _others(self, place: str, part: dict[str, Any]) -> None:
        kind, time = part.get("type"), self._time(part)
        if text(kind) in _SKIPPED:
            self.builder.skip(str(kind))
        elif kind == "patch":
            files = "\n".join(map(str, listing(part.get("files"))))
            self._used(self.builder.event(f"Files changed in this step:\n{files}", "patch", time=time))
        elif kind == "compaction":
            self._used(self.builder.event("The conversation was compacted.", "compaction", time=time))
        elif kind == "retry":
            self._used(self.builder.event(_error(mapping(part.get("error"))), "retry", time=time))
        elif kind == "file":
            self._used(self.builder.event(_file(part), "file", time=time))
        else:
            self.builder.unparsed(Unparsed(place, f"a part of unknown type {kind!r}"))

    def _used(self, _: str) -> None:
        self.builder.use()

    def _time(self, part: dict[str, Any]) -> str | None:
        own, message = mapping(part.get("time")), mapping(self._message.get("time"))
        return moment(own.get("start", message.get("created")), MILLISECOND)


def usage_of(tokens: Any, cost: Any) -> Usage | None:
    """OpenCode's count, in which neither the cached tokens are part of `input` nor the reasoning is part of `output`."""
    if not isinstance(tokens, dict):
        return None
    cache = mapping(tokens.get("cache"))
    read, written = count(cache.get("read")), count(cache.get("write"))
    sent, output = count(tokens.get("input")), count(tokens.get("output"))
    reasoning = count(tokens.get("reasoning"))
    prompt = None if sent is None else sent + (read or 0) + (written or 0)
    if output is not None and count(tokens.get("total")) != (prompt or 0) + output:
        output += reasoning or 0
    return Usage(prompt, read, written, output, reasoning, amount(cost))


def unquoted(words: str) -> str:
    """The user's text without the quotes that `opencode run` puts around an argument that has a space in it."""
    match = _QUOTED.fullmatch(words)
    return match[1].replace('\\"', '"') if match and " " in match[1] else words


_QUOTED = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"\s*', re.DOTALL)


def _model(info: dict[str, Any]) -> str | None:
    names = [text(info.get("providerID")), text(info.get("modelID"))]
    return "/".join(filter(None, names)) or None


def _file(part: dict[str, Any]) -> str:
    name = text(part.get("filename"))
    return " ".join(filter(None, [name, attachment(text(part.get("mime")) or "file", text(part.get("url")))]))


def _outcome(state: dict[str, Any]) -> str:
    output = text(state.get("error") if state["status"] == "error" else state.get("output"))
    files = [_file(file) for file in listing(state.get("attachments")) if isinstance(file, dict)]
    return "\n".join([output, *files]) if files else output


def _error(error: dict[str, Any]) -> str:
    name, message = text(error.get("name")) or "error", text(mapping(error.get("data")).get("message"))
    return f"{name}: {message}" if message else name


def run_of(session: Session, path: Path, version: str | None = None) -> Run:
    """The run that a finished top session was; its sub-agents' records must be among the builder's children."""
    record = session.finish()
    return Run(
        id=run_id(record, "opencode", session.model),
        record=record,
        source=str(path),
        task=session.task,
        agent="opencode",
        agent_version=version or None,
        model=session.model,
        outcome=Outcome(detail=session.ending),
    )
