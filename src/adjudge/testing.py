"""Stand-ins for what is slow, costly or elsewhere, for tests of adjudge and of programs that use it.

`ScriptedModel` plays a model, `FakeMachine` a machine, and `make_record`, `make_run` and `make_rubric` build what is
judged in a few lines:

    record = make_record(user("Fix it."), calls("bash", "pytest", result="3 passed", exit_status=0), says("Done."))
    model = ScriptedModel([looks(("open_entry", {"entry": "e3"})), decides(verdict("c1", True, ("e3", "3 passed")))])
    judgment = await Evaluator(model).judge(make_run(record), make_rubric("`pytest` passes"), None)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from posixpath import normpath
from typing import Any

import msgspec

from adjudge.errors import InputError, MachineError, ModelError
from adjudge.judgment import Call
from adjudge.ports import DirectoryItem, FilePart, Found, Hook, Match, Message, Output, Reply, Request, ToolCall
from adjudge.record import Entry, Fact, Kind, Record, Turn, Usage, Writer
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Outcome, Run

# --- a model

Scripted = str | Sequence[ToolCall] | Reply | Exception
"""What a scripted model does: answer with text, call tools, give this reply, or raise."""


class ScriptedModel:
    """A `ports.Model` that plays a list of replies, or asks a function what to do with each request.

    `requests` are those that it was sent. After the end of its list it raises `ModelError` of kind `broken`.
    """

    def __init__(
        self,
        replies: Iterable[Scripted] | Callable[[Request], Scripted],
        name: str = "scripted/model",
        window: int | None = None,
    ) -> None:
        self.name, self.window = name, window
        self.requests: list[Request] = []
        self._play = replies if callable(replies) else _player(replies)

    async def answer(self, request: Request) -> Reply:
        """The next reply of the script."""
        self.requests.append(request)
        scripted = self._play(request)
        if isinstance(scripted, Exception):
            raise scripted
        return scripted if isinstance(scripted, Reply) else make_reply(scripted, request, self.name)

    def price(self, usage: Usage) -> float | None:  # noqa: ARG002  the port's signature
        """Nothing: a script is free."""
        return 0.0

    async def close(self) -> None:
        """There is nothing to close."""


def _player(replies: Iterable[Scripted]) -> Callable[[Request], Scripted]:
    script = iter(replies)
    return lambda _: next(script, ModelError("the script of this model has ended", "broken"))


def make_reply(
    answer: str | Sequence[ToolCall], request: Request | None = None, model: str = "scripted/model", stop: str | None = None
) -> Reply:
    """A reply with this text or these calls; its tokens are an estimate of four characters each."""
    text, calls = (answer, ()) if isinstance(answer, str) else ("", tuple(answer))
    told = sum(len(message.text) for message in request.messages) if request else 0
    usage = Usage(prompt=told // 4 + 1, output=len(text) // 4 + 1)
    message = Message("assistant", text, calls)
    ending = stop if stop is not None else "calls" if calls else "end"
    return Reply(text, calls, ending, message, Call(model, usage, 0.0))


def looks(*calls: tuple[str, dict[str, Any] | str]) -> list[ToolCall]:
    """Calls of tools, each a name and its arguments, as a value or as the text that a model would send."""
    return [
        ToolCall(f"call-{number}", name, given if isinstance(given, str) else json.dumps(given))
        for number, (name, given) in enumerate(calls)
    ]


def verdict(
    criterion: str, passed: bool, *citations: tuple[str, str], note: str | None = None, **more: str
) -> dict[str, Any]:
    """A verdict as a model writes it; each citation is an exhibit's id and a quote."""
    cited = [{"exhibit": exhibit, "quote": quote} for exhibit, quote in citations]
    word = "pass" if passed else "fail"
    found = note if note is not None else f"Found: {'; '.join(quote for _, quote in citations) or 'nothing'}"
    return {"criterion": criterion, "verdict": word, "note": found, "citations": cited, **more}


def decision(*verdicts: dict[str, Any], summary: str = "It worked on the task.", **more: Any) -> dict[str, Any]:
    """A decision as a model writes it."""
    return {"verdicts": list(verdicts), "summary": summary, **more}


def decides(*verdicts: dict[str, Any], **more: Any) -> list[ToolCall]:
    """The call with which a model decides."""
    return looks(("decide", decision(*verdicts, **more)))


# --- a machine

Command = str | Output | Callable[[str], Output]


class FakeMachine:
    """A `ports.Machine` over files in memory and commands whose outcomes are written down.

    A command is found by its text; one that is not is not found by bash either. `runs` are those that were run,
    `fresh_runs` those of them that asked for a fresh view, and with `commands` left out none can be.
    """

    def __init__(
        self,
        files: Mapping[str, str | bytes] | None = None,
        commands: Mapping[str, Command] | Callable[[str], Output] | None = None,
        facts: Mapping[str, str | int | bool | None] | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        given = files or {}
        self._files = {path: data.encode() if isinstance(data, str) else data for path, data in given.items()}
        self._commands = commands
        self.facts: dict[str, str | int | bool | None] = {"kind": "fake", **(facts or {})}
        self.hooks = tuple(hooks)
        self.runs: list[str] = []
        self.fresh_runs: list[str] = []
        self.closed = False

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:  # noqa: ARG002  the port's signature
        """What is written down for the command."""
        if self._commands is None:
            raise MachineError("no command can be run on this machine; give it some")
        self.runs.append(command)
        if fresh:
            self.fresh_runs.append(command)
        if callable(self._commands):
            return self._commands(command)
        scripted = self._commands.get(command, printed(f"bash: {command.split(maxsplit=1)[0]}: command not found\n", 127))
        if isinstance(scripted, Output):
            return scripted
        return printed(scripted) if isinstance(scripted, str) else scripted(command)

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """A part of a file in memory."""
        data = self._files.get(_inside(path))
        if data is None:
            raise InputError(f"{path}: there is no such file in the workspace")
        return FilePart(path, data[offset : offset + limit], offset, len(data))

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """The names in a directory, which is what paths of files have in common."""
        at = _inside(path)
        prefix = "" if at == "." else f"{at}/"
        below = {name.removeprefix(prefix): data for name, data in self._files.items() if name.startswith(prefix)}
        if not below and prefix:
            raise InputError(f"{path}: there is no such directory in the workspace")
        items = {name.partition("/")[0]: _item(name, data) for name, data in below.items()}
        listed = sorted(items.values(), key=lambda item: item.name)
        return listed[:1000], len(listed)

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """The lines of the files below a path that match."""
        at = _inside(path)
        searched = {name: data for name, data in self._files.items() if at in (".", name) or name.startswith(f"{at}/")}
        try:
            find = re.compile(pattern if regex else re.escape(pattern))
        except re.error as error:
            raise InputError(f"{pattern!r} is no regular expression: {error}") from error
        lines = ((name, data.decode("utf-8", "replace").splitlines()) for name, data in searched.items())
        matches = [
            Match(name, number, line) for name, text in lines for number, line in enumerate(text, 1) if find.search(line)
        ]
        return Found(tuple(matches[:200]), len(matches), len(searched), cut=len(matches) > 200)

    async def close(self) -> None:
        """Say that it was closed."""
        self.closed = True


def printed(text: str, exit_status: int = 0) -> Output:
    """What a command did that printed this."""
    return Output(text, exit_status, len(text.encode()), 0.0)


def _inside(path: str) -> str:
    normal = normpath(path)
    if normal.startswith(("/", "..")):
        raise InputError(f"{path}: lies outside of the workspace")
    return normal


def _item(name: str, data: bytes) -> DirectoryItem:
    first, slash, _ = name.partition("/")
    return DirectoryItem(first, "directory") if slash else DirectoryItem(first, "file", len(data))


# --- what is judged


class Piece(msgspec.Struct, frozen=True):
    """An entry of a record to be made, without what follows from its place."""

    kind: Kind
    writer: Writer
    text: str
    name: str | None = None
    arguments: str | None = None
    exit_status: int | None = None
    origin: str | None = None


def user(text: str) -> tuple[Piece, ...]:
    """A message to the agent."""
    return (Piece("message", "user", text),)


def says(text: str) -> tuple[Piece, ...]:
    """A message of the agent's."""
    return (Piece("message", "agent", text),)


def thinks(text: str) -> tuple[Piece, ...]:
    """A piece of the agent's reasoning."""
    return (Piece("reasoning", "agent", text),)


def calls(
    name: str, arguments: str | dict[str, Any], result: str | None = None, exit_status: int | None = None
) -> tuple[Piece, ...]:
    """A call of a tool and, if there is one, its result. A text stands for `{"command": …}`."""
    given = {"command": arguments} if isinstance(arguments, str) else arguments
    lines = "\n".join([name, *(f"{key}: {value}" for key, value in given.items())])
    call = Piece("call", "agent", lines, name, json.dumps(given))
    return (call,) if result is None else (call, Piece("result", "tool", result, name, exit_status=exit_status))


def notes(text: str, origin: str = "system-reminder") -> tuple[Piece, ...]:
    """Something that the harness put into the record."""
    return (Piece("event", "harness", text, origin=origin),)


def make_record(*pieces: tuple[Piece, ...], children: Sequence[Record] = (), prefix: str = "") -> Record:
    """A record of these pieces, in order; every message, thought or call of the agent begins a turn."""
    entries: list[Entry] = []
    turns: list[Turn] = []
    for piece in (piece for group in pieces for piece in group):
        identifier = f"{prefix}e{len(entries) + 1}"
        if piece.writer == "agent":
            turns.append(Turn(len(turns) + 1, identifier))
        answers = entries[-1].id if piece.kind == "result" and entries else None
        entries.append(_entry(identifier, piece, len(turns), answers))
    last = entries[-1] if entries else None
    final = last.id if last and last.kind == "message" and last.writer == "agent" else None
    tells = frozenset(_tells(entries))
    return Record("made", tuple(entries), tuple(turns), tells, children=tuple(children), final=final)


def _entry(identifier: str, piece: Piece, turn: int, answers: str | None) -> Entry:
    return Entry(
        identifier,
        piece.kind,
        piece.writer,
        turn,
        piece.text,
        piece.name,
        piece.arguments,
        answers,
        piece.exit_status,
        origin=piece.origin,
    )


def _tells(entries: Iterable[Entry]) -> Iterable[Fact]:
    for entry in entries:
        if entry.kind == "result":
            yield "results"
        if entry.exit_status is not None:
            yield "exit_statuses"
        if entry.kind == "reasoning":
            yield "reasoning"


def make_run(record: Record | None = None, task: str | None = "Do it.", exit_status: int | None = 0, **fields: Any) -> Run:
    """A run with this record, and any other fields of `Run`."""
    made = record if record is not None else make_record(user("Do it."), says("Done."))
    source = msgspec.json.encode([task, list(made.walk())])
    fields = {"outcome": Outcome(exit_status), "source": "made", **fields}
    return Run(id=f"r-{hashlib.sha256(source).hexdigest()[:16]}", record=made, task=task, **fields)


def make_rubric(*criteria: str | Criterion, name: str = "made") -> Rubric:
    """A rubric of these criteria; texts get the ids c1, c2 and so on."""
    given = tuple(Criterion(f"c{number}", one) if isinstance(one, str) else one for number, one in enumerate(criteria, 1))
    return Rubric(name, given, rubric_hash(given), "made")
