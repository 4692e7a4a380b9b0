"""Bodies of requests: JSON that is nested too deeply to be read is the sender's mistake, not a bug."""

from __future__ import annotations

from typing import Any

from litestar import Request

from adjudge.errors import InputError


class Sent(Request[Any, Any, Any]):
    """A request as every route gets it."""

    async def json(self) -> Any:
        """What was sent. Raises InputError if it is nested too deeply."""
        try:
            return await super().json()
        except RecursionError:
            raise InputError("what was sent is nested too deeply; nothing here takes more than a few levels") from None
