"""What went wrong, as a page or as JSON: in a sentence, never with a traceback."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import msgspec
from litestar import Request, Response
from litestar.exceptions import HTTPException

from adjudge.errors import InputError, OutsideError
from adjudge.web.guard.rules import READING, Refused
from adjudge.web.rendering import HTML, rendered


class Failure(msgspec.Struct, frozen=True):
    """The JSON of an answer that is an error."""

    status: int
    detail: str


WORDS = {
    400: "The address or what was sent with it is not as it must be.",
    404: "There is no such page.",
    405: "This method is not answered here.",
    413: "That is larger than what is taken.",
}
HEADINGS = {
    401: "This door is closed",
    404: "Not here",
    421: "Another name",
    500: "A bug of adjudge",
    503: "Something failed",
}


def refuse(refused: Refused, path: str) -> tuple[str, bytes]:
    """The answer of the guard."""
    return _body(Failure(refused.status, refused.words), path)


def on_input_error(request: Request[Any, Any, Any], error: InputError) -> Response[bytes]:
    """What was asked for is not there, or cannot be used."""
    return _answer(request, Failure(404 if request.method in READING else 400, str(error)))


def on_outside_error(request: Request[Any, Any, Any], error: OutsideError) -> Response[bytes]:
    """The store's disk or database failed."""
    return _answer(request, Failure(503, str(error)))


def on_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """The application's own refusals: no such route, a value of the wrong kind. Its own words may quote code."""
    status = error.status_code
    return _answer(request, Failure(status, WORDS.get(status, "This cannot be answered.")))


def on_bug(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """A bug: whoever runs the server sees where, whoever asked does not."""
    traceback.print_exception(error, file=sys.stderr)
    return _answer(request, Failure(500, "This is a bug of adjudge; the terminal of `adjudge serve` says where."))


def _answer(request: Request[Any, Any, Any], failure: Failure) -> Response[bytes]:
    kind, body = _body(failure, request.url.path)
    return Response(body, media_type=kind, status_code=failure.status)


def _body(failure: Failure, path: str) -> tuple[str, bytes]:
    if path.startswith("/api"):
        return "application/json", msgspec.json.encode(failure)
    heading = HEADINGS.get(failure.status, "This does not work")
    return HTML, rendered("failure.html", failure=failure, heading=heading)
