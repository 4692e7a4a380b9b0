"""The door, and what it leads to first: the code of the printed address becomes a cookie; files that need no token."""

from __future__ import annotations

from litestar import Response, get
from litestar.datastructures import Cookie
from litestar.exceptions import NotFoundException
from litestar.response import Redirect

from adjudge.web.assets import assets
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Code, Name
from adjudge.web.site import Here

YEAR = 365 * 24 * 3600


@get("/enter", include_in_schema=False, sync_to_thread=False)
def enter(site: Here, code: Code = "") -> Response[bytes]:
    """Let a browser in that has the code, once.

    The page leads on by itself: a cookie that is `SameSite=Strict` is not sent along a redirect that began elsewhere.
    """
    access = site.access
    if access.token is None or site.doors.enter(code):
        answer = page("entered.html")
        answer.headers["refresh"] = "0; url=/runs"
        if access.token is not None:
            answer.set_cookie(
                Cookie(
                    key=access.cookie,
                    value=access.token,
                    max_age=YEAR,
                    httponly=True,
                    samesite="strict",
                    secure=access.secure,
                )
            )
        return answer
    return page("entered_before.html", status=401)


@get("/", include_in_schema=False, sync_to_thread=False)
def start() -> Redirect:
    """The first page."""
    return Redirect("/runs")


@get("/static/{name:str}", include_in_schema=False, sync_to_thread=False)
def static(name: Name) -> Response[bytes]:
    """The style sheet, the script, the icon."""
    if name not in assets():
        raise NotFoundException
    kind, data = assets()[name]
    return Response(data, media_type=kind)


PAGES = (enter, start, static)
