"""The rules that a request must keep, in their order: host, size, origin, form, token.

The host comes first: under DNS rebinding a foreign page is, to the browser, of the same origin, and only the name in Host
tells it apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.web.guard.access import Access
from adjudge.web.guard.hosts import Host, host_of, same_origin

LONGEST_ADDRESS = 8_192
"""Bytes of a path with its query."""
LARGEST_BODY = 1_000_000
"""Bytes that may be sent in one request."""

READING = frozenset({"GET", "HEAD"})
WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
OPEN = ("/enter", "/static/")
"""Paths that need no token: the door itself, and our style sheet and script."""

OWN_HEADER = "x-adjudge"
"""A header that a page elsewhere cannot send without being asked for leave, which is never given."""


class Refused(msgspec.Struct, frozen=True):
    """Why a request is not answered: an HTTP status and a sentence."""

    status: int
    words: str


class Asked(msgspec.Struct, frozen=True):
    """What the rules look at in a request. Header names are in lower case; a header may come more than once.

    `address` is the path and the query as they came.
    """

    method: str
    path: str
    address: bytes
    headers: Sequence[tuple[str, str]]

    def all(self, name: str) -> list[str]:
        """Every value of a header."""
        return [value for key, value in self.headers if key == name]

    def one(self, name: str) -> str | None:
        """A header's value if it came exactly once."""
        values = self.all(name)
        return values[0] if len(values) == 1 else None


def refusal(asked: Asked, access: Access) -> Refused | None:
    """Why a request must be refused, or `None`."""
    host = host_of(asked.one("host") or "")
    if host is None or host.name not in access.names:
        return Refused(421, "This server does not answer under that name.")
    return _size(asked) or _address(asked) or _origin(asked, host, access) or _form(asked) or _token(asked, access)


def _size(asked: Asked) -> Refused | None:
    if len(asked.address) > LONGEST_ADDRESS:
        return Refused(414, f"The address is longer than {LONGEST_ADDRESS} bytes.")
    lengths = asked.all("content-length")
    if any(not (length.isascii() and length.isdigit()) or int(length[:12]) > LARGEST_BODY for length in lengths):
        return Refused(413, f"At most {LARGEST_BODY} bytes can be sent.")
    return None


def _address(asked: Asked) -> Refused | None:
    """A NUL is in no name of ours, and not every database takes it."""
    return Refused(400, "No address here holds a NUL (%00).") if b"%00" in asked.address or b"\0" in asked.address else None


def _origin(asked: Asked, host: Host, access: Access) -> Refused | None:
    elsewhere = Refused(403, "The request comes from another site.")
    if any(not same_origin(origin, host, access.secure) for origin in asked.all("origin")):
        return elsewhere
    sites = asked.all("sec-fetch-site")
    if all(site in ("same-origin", "none") for site in sites):
        return None
    followed = asked.one("sec-fetch-mode") == "navigate" and asked.one("sec-fetch-dest") == "document"
    return None if asked.method == "GET" and followed else elsewhere


def _form(asked: Asked) -> Refused | None:
    if asked.method in READING:
        return None
    if asked.method not in WRITING:
        return Refused(405, "This method is not answered.")
    kind = (asked.one("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return Refused(415, "Only JSON is taken.")
    if asked.one(OWN_HEADER) is None:
        return Refused(403, f"A change needs the header {OWN_HEADER}.")
    return None


def _token(asked: Asked, access: Access) -> Refused | None:
    if access.token is None or asked.path.startswith(OPEN):
        return None
    bearer = [value[7:] for value in asked.all("authorization") if value[:7].lower() == "bearer "]
    if any(access.opens(candidate) for candidate in (*bearer, *_cookies(asked, access.cookie))):
        return None
    return Refused(401, "This page opens with the address that `adjudge serve` printed.")


def _cookies(asked: Asked, name: str) -> list[str]:
    """The values of a cookie. Whatever else stands in the header is another program's, well-formed or not."""
    pairs = (pair.partition("=") for header in asked.all("cookie") for pair in header.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]
