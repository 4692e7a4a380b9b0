"""Who may ask: the names under which the server answers, the token that opens it, and the addresses that hand it out."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from threading import Lock

import msgspec

SHORTEST_TOKEN = 32
"""Characters that a token must have; those that are drawn have 43, from 256 bits."""


def draw_token() -> str:
    """A token of 256 bits."""
    return secrets.token_urlsafe(32)


class Access(msgspec.Struct, frozen=True):
    """What is asked of a request. `names` are host names in lower case, without ports; `token` is `None` without one."""

    names: frozenset[str]
    token: str | None = None
    secure: bool = False
    port: int = 0

    @property
    def cookie(self) -> str:
        """The cookie's name. Cookies know no ports, so the name has it: two servers must not take each other's."""
        return f"{'__Host-' if self.secure else ''}adjudge-{self.port}"

    def opens(self, candidate: str) -> bool:
        """Whether this is the token, compared in constant time."""
        return self.token is not None and hmac.compare_digest(candidate.encode(), self.token.encode())


class Doors:
    """Codes that open the server once: each is good for one browser, and using one makes the next.

    A code stands in an address, so it may stay in a history; the token never does.
    """

    def __init__(self, announce: Callable[[str], None] | None = None) -> None:
        self._announce = announce
        self._lock = Lock()
        self.code = draw_token()

    def enter(self, candidate: str) -> bool:
        """Whether the code is good; it is not any more afterwards."""
        with self._lock:
            if not hmac.compare_digest(candidate.encode("utf-8", "surrogatepass"), self.code.encode()):
                return False
            self.code = draw_token()
        if self._announce is not None:
            self._announce(self.code)
        return True
