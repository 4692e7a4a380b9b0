"""Credentials in text: found by the formats that their issuers document and by assignments to telling names.

Finding is cheap where there is nothing to find: most texts raise no suspicion, and in the others a format's pattern is
tried only where its literal stands. A mask carries six hex digits of a hash of what it hides, so that two places with the
same credential can be told to be the same, without any state.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from adjudge.untrusted.loosened import loosened
from adjudge.untrusted.suspicion import Suspicion, fold, suspicion

Span = tuple[int, int]


def _format(literal: str, pattern: str) -> tuple[str, re.Pattern[str]]:
    return literal, re.compile(r"(?<![A-Za-z0-9])(?P<secret>" + pattern + ")")


_FORMATS = (
    _format("sk-", r"sk-(?:(?:proj|svcacct|admin|ant|or|lf|litellm)-(?:[a-z0-9]+-)?)?[A-Za-z0-9_-]{16,}"),
    _format("AKIA", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _format("ASIA", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *(_format(f"gh{kind}_", rf"gh{kind}_[A-Za-z0-9]{{30,}}") for kind in "pous"),
    _format("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _format("glpat-", r"glpat-[A-Za-z0-9_.-]{20,}"),
    _format("AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _format("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    _format("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _format("eyJ", r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,9999}\.[A-Za-z0-9_-]{8,}"),
    _format("sk_live_", r"sk_live_[A-Za-z0-9]{16,}"),
    _format("hf_", r"hf_[A-Za-z0-9]{30,}"),
    _format("npm_", r"npm_[A-Za-z0-9]{36}"),
    _format("pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    _format("gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _format("xai-", r"xai-[A-Za-z0-9]{40,}"),
    _format(
        "-----BEGIN ",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]|-(?!----)){20,20000}(?:-----END [A-Z0-9 ]{0,60}-----)?",
    ),
)

_NAMES = ("passw", "pwd", "secret", "token", "api_key", "api-key", "apikey")
_GIVEN_TO = (
    r"(?:passw(?:or)?d|passwd|pwd|secret|token|api[_-]?key)(?:_?(?:access_?)?(?:key|value))?"
    r"[\\\"']{0,3}\s{0,4}(?:=>|:=|[:=])\s{0,4}[\\\"'`]{0,3}"
)
_SENT_AS = r"(?:Bearer|Basic)\s{1,4}"
_ASSIGNED = re.compile(_GIVEN_TO + r"(?P<secret>[A-Za-z0-9+/=_.~!@#$%^&*-]{10,512}+)(?![\w(\[])", re.I)
_BEARER = re.compile(_SENT_AS + r"(?P<secret>[A-Za-z0-9+/=_.~-]{16,4096})", re.I)
_IN_ADDRESS = re.compile(r"://[^/\s:@\"'<>]{0,64}:(?P<secret>[^/\s@\"'<>{}$]{8,256})@")

_UP_TO_A_DIGIT = "[-A-Za-z+/=_.~!@#$%^&*\u0130\u0131]*[0-9]"
"""The start of a value that may look like chance; where case does not matter, the letters count as one of a to z."""

LOOSENED = (
    *(loosened(pattern.pattern) for _, pattern in _FORMATS),
    *(f"(?i:{loosened(before)}{_UP_TO_A_DIGIT})" for before in (_GIVEN_TO, _SENT_AS)),
    loosened(_IN_ADDRESS.pattern),
)
"""What an automaton looks for: where it finds nothing, nothing is masked."""

_PLACEHOLDER = re.compile(
    r"x{4}|\*{3}|\.{3}|your|example|placeholder|change.?me|dummy|redacted|sample|^[$%{<]|^\.{0,2}/|^\d{4}-\d\d-\d\d|^https?:",
    re.I,
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_TURNS = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


def masked(text: str, suspected: Suspicion) -> str:
    """The text with every credential of the suspected kinds replaced by `<secret:……>`."""
    if not any(suspected):
        return text
    pieces: list[str] = []
    position = 0
    for start, end in _spans(text, suspected):
        pieces += text[position:start], mask(text[start:end])
        position = end
    return "".join((*pieces, text[position:])) if pieces else text


def count_secrets(text: str) -> int:
    """How many places of the text `masked` would replace."""
    data = text.encode("utf-8", "surrogatepass")
    return len(_spans(text, suspicion(data, fold(data))))


def mask(secret: str) -> str:
    """What stands in place of a credential; equal for equal credentials."""
    return f"<secret:{hashlib.sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}>"


def _spans(text: str, suspected: Suspicion) -> list[Span]:
    """Where credentials stand, in order and without overlap."""
    spans: list[Span] = []
    for start, end in sorted(_found(text, suspected), key=lambda span: (span[0], -span[1])):
        if not spans or start >= spans[-1][1]:
            spans.append((start, end))
    return spans


def _found(text: str, suspected: Suspicion) -> Iterator[Span]:
    if suspected.formats:
        for literal, pattern in _FORMATS:
            yield from (span for span in _at(text, text, literal, pattern) if _varied(text[slice(*span)]))
    if suspected.names:
        lowered = text.lower()
        if len(lowered) != len(text):  # a letter became two: positions no longer agree
            lowered = text
        for names, pattern in ((_NAMES, _ASSIGNED), (("bearer", "basic "), _BEARER)):
            for name in names:
                yield from _chance(text, _at(text, lowered, name, pattern))
    if suspected.addresses:
        yield from _chance(text, _at(text, text, "://", _IN_ADDRESS))


def _chance(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    return (span for span in spans if _random(text[slice(*span)]))


def _at(text: str, searched: str, literal: str, pattern: re.Pattern[str]) -> Iterable[Span]:
    """The secrets that a pattern finds where its literal stands. Each try is bounded by the pattern's own limits."""
    position = searched.find(literal)
    while position >= 0:
        if match := pattern.match(text, position):
            yield match.span("secret")
        position = searched.find(literal, match.end() if match else position + len(literal))


def _varied(secret: str) -> bool:
    """Not `sk-xxxxxxxx`, nor words that only start like a key (`sk-learn-contrib-estimators`)."""
    return len(set(secret)) >= 8 and any(map(str.isdigit, secret)) and not re.search(r"x{6}|X{6}|\*{3}|\.{3}", secret)


def _random(value: str) -> bool:
    """Whether a value looks like chance: letters and digits in turns, many different ones, no placeholder's words."""
    if _PLACEHOLDER.search(value) or _UUID.fullmatch(value):
        return False
    return len(set(value)) >= 8 and len(_TURNS.findall(value)) >= 3
