"""The seams on one page: what an importer, a machine, a model and a judge must offer, and the values they exchange."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from adjudge.judgment import Call, HookKind, Judgment
from adjudge.record import Usage
from adjudge.rubric import Rubric
from adjudge.run import Run

# --- importers


class Importer(Protocol):
    """Reads one format of recordings."""

    name: str

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether this file or folder is of this format, from its first bytes (64 KiB; empty for a folder)."""

    def runs(self, path: Path) -> Iterator[Run]:
        """The runs that the file or folder holds.

        Raises:
            InputError: it cannot be read at all. What is only partly readable is counted in `Record.unparsed`.
        """


# --- machines


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a command did, as seen from outside of the machine.

    `text` is standard output and error together, decoded as UTF-8 with replacement, head and tail if it was longer than
    the limit; `size` is the true number of bytes. `exit_status` comes from `wait`, negative for a signal. `ended` says
    why a command was stopped, if it was.
    """

    text: str
    exit_status: int
    size: int
    seconds: float
    ended: Literal["time", "output", "memory", "processes"] | None = None
    cut: bool = False
    forfeited: int = 0


class FilePart(msgspec.Struct, frozen=True):
    """A part of a regular file: bytes `offset` to `offset + len(data)` of `size`."""

    path: str
    data: bytes
    offset: int
    size: int


class DirectoryItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One name in a directory. `size` is in bytes, for regular files; `target` is where a symbolic link points."""

    name: str
    kind: Literal["file", "directory", "link", "other"]
    size: int | None = None
    executable: bool = False
    target: str | None = None


class Match(msgspec.Struct, frozen=True):
    """A line of a file that a search found; lines are numbered from 1."""

    path: str
    line: int
    text: str


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a search found, how many files it read, and what it left out (`skipped`: binary, too large, unreadable)."""

    matches: tuple[Match, ...]
    total: int
    files: int
    skipped: int = 0
    cut: bool = False


class Hook(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the workspace that can make a later command lie, by its path in the workspace.

    `acts_on` are the commands that it acts on: a program (`pytest`), with what one would write to have the same effect
    where that can be taken back (`pytest -p evil`, `git -c core.hookspath commit`). `by` is as in `Tampering`.
    """

    path: str
    kind: HookKind
    acts_on: tuple[str, ...]
    by: Literal["agent", "task"] | None = None


class Machine(Protocol):
    """The place where an agent worked, as it left it; for one judgment, gone afterwards.

    `read`, `list` and `search` look at the files as the agent left them, from the host's side, whatever commands have
    done since; paths are relative to the workspace. `run` works on a view that keeps its changes until `close`, or, if it
    is asked for a fresh one, on a view, a home and a /tmp of its own, which no other command has seen or will see.
    `hooks` are the files that could shape what commands do.
    """

    facts: dict[str, str | int | bool | None]
    hooks: tuple[Hook, ...]

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command with `bash -c` in the workspace; if `fresh`, in one as the agent left it, thrown away afterwards.

        Raises:
            MachineError: no command can be run here; the message says why and what would help.
        """

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """Read at most `limit` bytes of a regular file.

        Raises:
            InputError: there is no such file, it is not a regular file, or it lies outside of the workspace.
        """

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """At most a thousand names in a directory, sorted, and how many there are. Raises InputError as `read` does."""

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """Search the text files below a path, line by line. Raises InputError as `read` does, and for a bad pattern."""

    async def close(self) -> None:
        """Destroy the machine and all that runs on it. Closing twice is closing once."""


# --- machines on which an agent works first


LEFT_RUNNING = "left running"
"""The fact that lists, one command line a line, what an agent left running on a live machine."""


class Launch(msgspec.Struct, frozen=True):
    """An agent's process, as a machine shall start it.

    `arguments` begin with the program, by its absolute path inside. `environment` comes on top of the machine's own
    variables, and reaches this process alone. `files` are put into the agent's home before; their paths are relative to it.
    """

    arguments: tuple[str, ...]
    environment: dict[str, str] = {}
    files: dict[str, bytes] = {}


class Ended(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an agent's process ended, as seen from outside of the machine.

    `exit_status` comes from `wait`, negative for a signal. `stopped` is the limit at which it was stopped, if it was.
    `full` says that the workspace's disk was full then. `output` and `errors` are the true numbers of bytes that it
    printed. `left` are the command lines of the processes that it left running (at most fifty, each cut at 200
    characters), `processes` how many there are.
    """

    exit_status: int
    seconds: float
    output: int
    errors: int
    stopped: Literal["time", "output", "memory", "processes"] | None = None
    full: bool = False
    left: tuple[str, ...] = ()
    processes: int = 0


class LiveMachine(Machine, Protocol):
    """A machine on which an agent works first, and which is then a `Machine` with all that the agent left running.

    The order of calls is `listen` (if the agent needs its model), `work`, `fetch`, `hand_over`; only then `run`, `read`,
    `list` and `search`. `read`, `list` and `search` see the files as they were at `hand_over`; `run` works in the place
    where the agent worked, with its processes, and a fresh run on a copy of the files without them. `home` and `workspace`
    are absolute paths inside.
    """

    home: str
    workspace: str

    async def listen(self, port: int) -> socket.socket:
        """A listening socket on which connections to 127.0.0.1:`port` inside arrive here: the agent's only network.

        Whoever asks for it serves and closes it. After `hand_over` nothing inside can connect any more.

        Raises:
            MachineError: it cannot be had.
        """

    async def work(self, launch: Launch, folder: Path, on_output: Callable[[bytes], None] | None = None) -> Ended:
        """Start the agent's process in the workspace and wait for its end, or stop it at a limit.

        What it prints goes to the files `stdout` and `stderr` in `folder`, head and tail if it is much (with a line between
        that says how much was left out), and to `on_output` as it comes, which must not block. If this is cancelled, the
        process is killed.

        Raises:
            InputError: the machine cannot start such a process (a missing program, too long an argument).
            MachineError: the machine was lost.
        """

    async def fetch(self, paths: Sequence[str], folder: Path) -> Fetched:
        """Copy files and folders from the agent's home, by their relative paths, to the same paths in `folder`.

        Links stay links, and what is neither file, folder nor link is left out; paths that are not there are passed over.

        Raises:
            MachineError: the machine was lost.
        """

    async def hand_over(self, folder: Path) -> Fetched:
        """Copy the workspace into an empty folder of the host, and end the agent's network.

        Raises:
            MachineError: the machine was lost, or the folder cannot hold the files.
        """

    async def grade(self, command: str, seconds: float, files: Path | None = None) -> Output:
        """Run a grader with `bash -c` on a copy of the files as handed over, without what the agent left running.

        `files` is a folder of the host that the command finds at `/grader`. Nothing of it, and nothing that the command
        does, is ever seen by the agent or by another command.

        Raises:
            MachineError: as `run`.
        """


class Fetched(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much was copied out of a machine: files and bytes, and how many things were left out.

    `cut` says that a limit ended it early, so that more is missing than `left_out` counts.
    """

    files: int
    size: int
    left_out: int = 0
    cut: bool = False


# --- models

RETRIES = 6
"""Times that a call to a model is made again after a fault of the transport."""


class Tool(msgspec.Struct, frozen=True):
    """A tool that a model may call. `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(msgspec.Struct, frozen=True):
    """A call that a model made. `arguments` is the text it sent, which may not even be JSON."""

    id: str
    name: str
    arguments: str


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a conversation with a model.

    `role` is `user`, `assistant` or `tool`; a `tool` message answers the call with id `answers`. `opaque` is what a
    provider wants back unchanged with an assistant's message (signatures of reasoning). `pieces`, if there are any, are the
    text once more, one after another and each whole in itself: a long text of which most pieces are ASCII is encoded from
    them in a fourth of the time.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    name: str | None = None
    opaque: Any = None
    pieces: tuple[str, ...] = ()


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question to a model. `tools` may be called unless `choice` is `none`; with `required` one must be.

    `schema`, if given, is the JSON Schema that the answer's text must satisfy. `most` bounds the answer's tokens, `retries`
    how often a fault of the transport may be met by asking again.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    choice: Literal["auto", "none", "required"] = "auto"
    schema: dict[str, Any] | None = None
    most: int = 8192
    retries: int = RETRIES


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered. `stop` is `end`, `calls`, `length`, `filtered` or, for anything else, the provider's word.

    `call` is the ledger's line for it; `message` is what must be appended to continue the conversation.
    """

    text: str
    calls: tuple[ToolCall, ...]
    stop: str
    message: Message
    call: Call
    reasoning: str | None = None


class Model(Protocol):
    """A language model. `window` is its context in tokens, `None` if unknown."""

    name: str
    window: int | None

    async def answer(self, request: Request) -> Reply:
        """Ask once, with bounded patience.

        Raises:
            ModelError: no usable reply came; its `kind` says why, its `calls` what was billed all the same.
        """

    def price(self, usage: Usage) -> float | None:
        """What this usage costs in US dollars, `None` if no price is known."""

    async def close(self) -> None:
        """Let go of connections and threads."""


# --- judges


class Judging(Protocol):
    """All judges have this shape."""

    async def judge(self, run: Run, rubric: Rubric | None, machine: Machine | None) -> Judgment:
        """Judge a run. What goes wrong becomes a judgment with status `errored`, never an exception of the outside."""
