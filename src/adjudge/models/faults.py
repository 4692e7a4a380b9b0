"""What can be wrong with one attempt at a call, sorted by what is to be done about it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal

Kind = Literal["refused", "busy", "broken", "timeout", "context", "filtered"]

LONGEST_WAIT = 366 * 86400.0
"""Seconds beyond which a Retry-After is taken for garbage."""


class Fault(Exception):  # noqa: N818 - it never leaves this package; callers get a ModelError
    """One attempt brought no usable reply.

    `kind` is as in `ModelError`; `again` says that the same request may succeed later, `after` how many seconds the
    provider wants us to wait. `plain` says that the endpoint knows no JSON schema, so that a plain request may do.
    """

    def __init__(
        self, words: str, kind: Kind, again: bool = False, after: float | None = None, plain: bool = False
    ) -> None:
        super().__init__(words)
        self.words, self.kind, self.again, self.after, self.plain = words, kind, again, after, plain


def fault_in(error: BaseException) -> Fault | None:
    """The fault that caused an error of an SDK, or `None` if it has another cause."""
    seen: BaseException | None = error
    for _ in range(16):
        if seen is None or isinstance(seen, Fault):
            return seen
        seen = seen.__cause__ or seen.__context__
    return None


_CONTEXT = re.compile(
    r"context.{0,20}(length|size|window)|(length|size|window).{0,12}of the context|prompt is too long|too many tokens"
    r"|input.{0,30}(too long|exceeds)|token count.{0,40}exceeds|exceed_context|request_too_large",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content_?\s?(filter|policy|management)|moderation|flagged|safety system|responsible ?ai", re.IGNORECASE
)
_NO_MONEY = re.compile(
    r"insufficient_quota|insufficient credits|billing_(not_active|hard_limit)|credit balance|exceeded_current_quota",
    re.IGNORECASE,
)
_SCHEMA = re.compile(
    r"response_?format|json[_ ]?schema|structured output|response_?(json_?|mime_?)?(schema|type)|output_(config|format)"
    r"|json[_ ](mode|object|output)|guided_?(json|decoding)|grammar|handle the requested parameters",
    re.IGNORECASE,
)


def fault_of_status(status: int, headers: Mapping[str, str], reply: Any, now: float | None = None) -> Fault:
    """The fault that an HTTP status stands for, or the code inside of a body that came with status 200.

    `reply` is the decoded JSON body, or `None` if there was none; `now` is the time in seconds since 1970.
    """
    reason = said_reason(reply)
    words = f"HTTP {status}: {reason}" if reason else f"HTTP {status}, no reason given"
    if 300 <= status < 400:
        return Fault(
            f"HTTP {status}: it redirects elsewhere, which is not followed since the key would go along", "refused"
        )
    if status == 402 or _NO_MONEY.search(reason):
        return Fault(f"{words} (no credit or quota is left)", "refused")
    if status in (408, 409, 425, 429, 503, 529):
        return Fault(words, "busy", again=True, after=wait_asked(headers, reply, time.time() if now is None else now))
    if status >= 500:
        # Some gateways wrap a full context in a 500; sending it again would be refused again.
        return Fault(words, "context") if _CONTEXT.search(reason) else Fault(words, "broken", again=True)
    return _fault_of_request(status, words, reason)


def _fault_of_request(status: int, words: str, reason: str) -> Fault:
    if status == 413 or _CONTEXT.search(reason):
        return Fault(words, "context")
    if _FILTERED.search(reason):
        return Fault(words, "filtered")
    if status == 400 and not reason:
        return Fault(f"{words} (some endpoints answer so if the request is larger than the model's window)", "refused")
    if status in (401, 403):
        return Fault(f"{words} (is the key right, and may it use this model?)", "refused")
    return Fault(words, "refused", plain=status in (400, 404, 422) and bool(_SCHEMA.search(reason)))


def said_reason(reply: Any) -> str:
    """What an error's body says, code, type and message together, at most 400 characters on one line."""
    error = reply.get("error", reply) if isinstance(reply, dict) else reply
    if isinstance(error, list) and error:
        error = error[0].get("error", error[0]) if isinstance(error[0], dict) else None
    if isinstance(error, str):
        return _line(error)
    if not isinstance(error, dict):
        return ""
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None  # OpenRouter keeps the real reason there
    said = [error.get(name) for name in ("code", "type", "status", "message", "detail")] + [raw]
    return _line(" · ".join(str(part) for part in said if isinstance(part, str | int) and part != ""))


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:400]).strip()


def wait_asked(headers: Mapping[str, str], reply: Any, now: float) -> float | None:
    """The seconds that a provider asks us to wait, or `None` if it asks for nothing that makes sense.

    Understands `Retry-After` in seconds and as a date (RFC 9110, 10.2.3), `retry-after-ms`, and the `retryDelay` of
    Google's error details.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _sane(milliseconds / 1000)
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None:
        return _sane(seconds)
    if asked:
        try:
            return _sane(max(0.0, parsedate_to_datetime(asked).timestamp() - now))
        except (ValueError, OverflowError, OSError):
            return None
    return _delay(reply)


def _delay(reply: Any) -> float | None:
    error = reply.get("error") if isinstance(reply, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str):
            return _sane(_number(delay.removesuffix("s")))
    return None


def _number(text: str | None) -> float | None:
    return float(text) if text and len(text) < 32 and re.fullmatch(r"\s*\d+(\.\d+)?\s*", text, re.ASCII) else None


def _sane(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and seconds <= LONGEST_WAIT else None
