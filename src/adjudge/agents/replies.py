"""What an endpoint sends back, as it may go to an agent; and what is said in its place where nothing came."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator

from adjudge.agents.endpoints import Wire
from adjudge.agents.masking import Marks, Masking
from adjudge.models.faults import said_reason
from adjudge.untrusted import one_line

PIECE = 1 << 20
"""Bytes that are inflated at once, however much a few compressed ones stand for."""

LONGEST_ERROR = 64 << 10
"""Bytes of an error's body in which its message is looked for."""

_KINDS: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    403: ("permission_error", "PERMISSION_DENIED"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    502: ("api_error", "UNAVAILABLE"),
    503: ("overloaded_error", "UNAVAILABLE"),
}


class BrokenReplyError(Exception):
    """No whole reply came from an endpoint. Its words may be told to the agent, its `detail` to the user alone."""

    def __init__(self, words: str, detail: str = "") -> None:
        super().__init__(words)
        self.detail = detail


class ReplyBody:
    """The body of one reply on its way: inflated if it was compressed all the same, masked, never held back for long."""

    def __init__(self, coding: str, marks: Marks) -> None:
        """Begin.

        Raises:
            BrokenReplyError: it is compressed in a way that cannot be read here.
        """
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise BrokenReplyError("the model's endpoint compressed its reply in a way that was not asked for")
        self._inflating = None if coding in ("", "identity") else zlib.decompressobj(wbits=47)
        self._masking = Masking(marks)

    @property
    def inflated(self) -> bool:
        """Whether its length is another than that of what came."""
        return self._inflating is not None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What may go on.

        Raises:
            BrokenReplyError: it cannot be inflated.
        """
        for piece in self._plain(data) if self._inflating else (data,):
            if passing := self._masking.feed(piece):
                yield passing

    def finish(self) -> bytes:
        """The rest, when all has come.

        Raises:
            BrokenReplyError: it is not whole.
        """
        if self._inflating and not self._inflating.eof:
            raise BrokenReplyError("the reply of the model's endpoint broke off")
        return self._masking.finish()

    def _plain(self, data: bytes) -> Iterator[bytes]:
        assert self._inflating
        try:
            while data and not self._inflating.eof:
                yield self._inflating.decompress(data, PIECE)
                data = self._inflating.unconsumed_tail
        except zlib.error as error:
            raise BrokenReplyError("the reply of the model's endpoint cannot be decompressed") from error


def error_body(wire: Wire, status: int, words: str) -> bytes:
    """An error in the shape in which the wire's clients expect it."""
    kind, name = _KINDS[status]
    if wire == "anthropic":
        return json.dumps({"type": "error", "error": {"type": kind, "message": words}}).encode()
    if wire == "gemini":
        return json.dumps({"error": {"code": status, "message": words, "status": name}}).encode()
    return json.dumps({"error": {"message": words, "type": kind, "param": None, "code": status}}).encode()


def words_of_error(status: int, body: bytes) -> str:
    """What an endpoint's error says, from the masked beginning of its body, on one short line."""
    try:
        reason = said_reason(json.loads(body))
    except (ValueError, RecursionError):
        reason = body[:400].decode("utf-8", "replace")
    return one_line(f"HTTP {status}: {reason}" if reason.strip() else f"HTTP {status}, no reason given", 400)
