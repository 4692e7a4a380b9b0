"""Who reviews in this browser: a name that was given, kept in a cookie, and believed as the command line believes it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from litestar import Request
from litestar.datastructures import Cookie

from adjudge.errors import InputError
from adjudge.evidence import says_something
from adjudge.reviews.checking import LONGEST_NAME
from adjudge.web.guard import Access
from adjudge.web.site import Here

YEAR = 365 * 24 * 3600


def reviewer_here(request: Request[Any, Any, Any], site: Here) -> str | None:
    """Who reviews, `None` if nobody has said so yet."""
    name = unquote(request.cookies.get(_cookie(site.access), ""))
    return name if _is_name(name) else None


def cookie_for(name: str, access: Access) -> Cookie:
    """The cookie that keeps a name.

    Raises:
        InputError: it is no name.
    """
    name = name.strip()
    if not _is_name(name):
        raise InputError(f"a reviewer's name is one line of at most {LONGEST_NAME} characters")
    return Cookie(
        key=_cookie(access),
        value=quote(name, safe=""),
        max_age=YEAR,
        httponly=True,
        samesite="strict",
        secure=access.secure,
    )


def _cookie(access: Access) -> str:
    return f"{access.cookie}-reviewer"


def _is_name(name: str) -> bool:
    return len(name) <= LONGEST_NAME and name.isprintable() and says_something(name)
