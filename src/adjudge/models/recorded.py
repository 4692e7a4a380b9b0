"""A model that answers from a file: an exchange recorded once is played again, and only to the same requests.

Nothing but msgspec is imported here, so that a demonstration starts at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from adjudge import __version__
from adjudge.errors import InputError, ModelError, OutsideError
from adjudge.ports import Message, Model, Reply, Request, Tool
from adjudge.record import Usage

WHAT = "A recorded exchange with a language model. adjudge plays it again as recorded/FILE, to the same requests only."


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stays the same through a conversation: all of a request but its messages."""

    system: str
    tools: tuple[Tool, ...] = ()
    choice: Literal["auto", "none", "required"] = "auto"
    schema: dict[str, Any] | None = None
    most: int = 8192


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and its reply.

    Conversations grow at their end, so a request is told as the exchange before: its first `kept` messages, then
    `added`. `frame` is left out where it is that of the exchange before.
    """

    added: tuple[Message, ...]
    reply: Reply
    kept: int = 0
    frame: Frame | None = None


class Recording(msgspec.Struct, frozen=True):
    """A recorded exchange, as it lies in its file. `nonce` is what made the requests unguessable."""

    what: str
    made_by: str
    model: str
    nonce: str | None
    adjudge: str
    exchanges: tuple[Exchange, ...]
    window: int | None = None


class RecordedModel:
    """Implements `ports.Model` by a recording."""

    def __init__(self, path: Path) -> None:
        """Read a recording.

        Raises:
            InputError: the file cannot be read, or is none.
        """
        recording = read_recording(path)
        self.name = f"recorded/{recording.model}"
        self.window = recording.window
        self.nonce = recording.nonce
        self._path = path
        self._requests = tuple(_requests(recording.exchanges))
        self._replies = [exchange.reply for exchange in recording.exchanges]
        self._played: set[int] = set()

    async def answer(self, request: Request) -> Reply:
        """The recorded reply to this request; of several to the same request, the next that was not played yet.

        Raises:
            ModelError: the recording knows no such request (kind `differs`); the message says where it differs.
        """
        started = time.monotonic()
        count = len(request.messages)
        alike = [number for number, known in enumerate(self._requests) if len(known.messages) == count]
        same = [number for number in alike if difference(self._requests[number], request) is None]
        if not same:
            raise ModelError(f"{self._path}: {self._nearest(request)}", "differs")
        number = next((number for number in same if number not in self._played), same[-1])
        self._played.add(number)
        reply = self._replies[number]
        usage = msgspec.structs.replace(reply.call.usage, cost=0.0)  # playing it again costs nothing
        call = msgspec.structs.replace(reply.call, usage=usage, seconds=time.monotonic() - started)
        return msgspec.structs.replace(reply, call=call)

    def price(self, usage: Usage) -> float | None:  # noqa: ARG002 - the port's shape
        """Nothing."""
        return 0.0

    async def close(self) -> None:
        """Nothing is held."""

    def _nearest(self, request: Request) -> str:
        """Where the request differs from the recorded one that agrees with it furthest."""
        if not self._requests:
            return "the recording is empty"
        found = [(difference(known, request) or (0, ""), number) for number, known in enumerate(self._requests, 1)]
        (_, words), number = max(found, key=lambda item: (item[0][0], -item[1]))
        return f"the request differs from recorded request {number}: {words}"


def read_recording(path: Path) -> Recording:
    """A recording from its file.

    Raises:
        InputError: the file cannot be read, or is no recording.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Recording)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: is no recorded exchange: {error}") from error


def _requests(exchanges: Sequence[Exchange]) -> Sequence[Request]:
    requests: list[Request] = []
    frame, messages = Frame(""), tuple[Message, ...]()
    for exchange in exchanges:
        frame = exchange.frame or frame
        messages = messages[: exchange.kept] + exchange.added
        requests.append(Request(frame.system, messages, frame.tools, frame.choice, frame.schema, frame.most))
    return requests


_ELAPSED = re.compile(r"(?<![\w.])\d+\.\d+ ?s\b|\bin \d+(?:\.\d+)? ?(?:ms|s)\b")


def _timeless(text: str) -> str:
    """The text with elapsed times (`0.123s`, `in 12 ms`) made equal: they are never twice the same."""
    return _ELAPSED.sub("<elapsed>", text)


def difference(known: Request, request: Request) -> tuple[int, str] | None:
    """How far two requests agree, in messages, and their first difference in words; `None` if there is none."""
    for number, (old, new) in enumerate(zip(known.messages, request.messages, strict=False)):
        words = None if old == new else _difference_of_messages(old, new)
        if words:
            return number, f"message {number + 1} ({new.role}): {words}"
    shorter = min(len(known.messages), len(request.messages))
    if len(known.messages) != len(request.messages):
        return shorter, f"it has {len(request.messages)} messages, the recorded one {len(known.messages)}"
    for name in ("system", "tools", "choice", "schema", "most"):
        old, new = getattr(known, name), getattr(request, name)
        if old != new and _timeless(_as_text(old)) != _timeless(_as_text(new)):
            return shorter, f"its {name}: {_apart(_as_text(old), _as_text(new))}"
    return None


def _difference_of_messages(old: Message, new: Message) -> str | None:
    for name in ("role", "text", "calls", "answers", "name"):
        left, right = _timeless(_as_text(getattr(old, name))), _timeless(_as_text(getattr(new, name)))
        if left != right:
            return f"its {name}: {_apart(left, right)}"
    return None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, order="sorted").decode()


def _apart(old: str, new: str) -> str:
    """Where two texts part, with some of what stands there in each."""
    at = next((i for i, (left, right) in enumerate(zip(old, new, strict=False)) if left != right), min(len(old), len(new)))
    start = max(0, at - 20)
    return f"at character {at + 1} recorded is {old[start : at + 60]!r}, asked is {new[start : at + 60]!r}"


class Recorder:
    """Asks another model and keeps every exchange, to be written as a recording.

    Only what brought a reply is kept. `made_by` says who answered and how, for people who read the file.
    """

    def __init__(self, model: Model, made_by: str, nonce: str | None = None) -> None:
        self.name, self.window = model.name, model.window
        self._model, self._made_by, self._nonce = model, made_by, nonce
        self._exchanges: list[Exchange] = []
        self._last: Request | None = None

    async def answer(self, request: Request) -> Reply:
        """Ask the model, and keep what it answered."""
        reply = await self._model.answer(request)
        self._exchanges.append(_exchange(self._last, request, reply))
        self._last = request
        return reply

    def price(self, usage: Usage) -> float | None:
        """What the model asks for this usage."""
        return self._model.price(usage)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def write(self, path: Path) -> None:
        """Write the recording, indented, so that its changes can be reviewed. Raises OutsideError if that fails."""
        recording = Recording(WHAT, self._made_by, self.name, self._nonce, __version__, tuple(self._exchanges), self.window)
        try:
            path.write_bytes(msgspec.json.format(msgspec.json.encode(recording), indent=1) + b"\n")
        except OSError as error:
            raise OutsideError(f"{path}: the exchange cannot be written: {error.strerror}") from error


def _exchange(last: Request | None, request: Request, reply: Reply) -> Exchange:
    messages = tuple(map(_bare, request.messages))
    frame = Frame(request.system, request.tools, request.choice, request.schema, request.most)
    if last is None:
        return Exchange(messages, reply, 0, frame)
    kept = 0
    for old, new in zip(last.messages, messages, strict=False):
        if _bare(old) != new:
            break
        kept += 1
    same = frame == Frame(last.system, last.tools, last.choice, last.schema, last.most)
    return Exchange(messages[kept:], reply, kept, None if same else frame)


def _bare(message: Message) -> Message:
    """The message without what is of this process or provider alone."""
    return msgspec.structs.replace(message, opaque=None, pieces=())
