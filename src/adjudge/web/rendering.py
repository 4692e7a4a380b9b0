"""Templates: every text that one prints is shown safely and escaped, whether its author thought of it or not."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import Response
from markupsafe import Markup

from adjudge import __version__
from adjudge.untrusted import shown
from adjudge.web.text import with_code

HTML = "text/html"

PAGES: tuple[tuple[str, str], ...] = (
    ("Runs", "/runs"),
    ("Passes", "/passes"),
    ("Results", "/results"),
    ("Compare", "/compare"),
    ("Review", "/review"),
    ("Rubrics", "/rubrics"),
    ("Build", "/build"),
    ("Agents", "/agents"),
    ("Ask", "/ask"),
)
"""The pages of the bar at the top, in its order."""


def rendered(template: str, here: str = "", **values: Any) -> bytes:
    """A page from its template; `here` is the page of the bar that it belongs to."""
    made = _environment().get_template(template).render(pages=PAGES, here=here, version=__version__, **values)
    return made.encode("utf-8", "replace")


def page(template: str, here: str = "", status: int = 200, **values: Any) -> Response[bytes]:
    """A page as an answer."""
    return Response(rendered(template, here, **values), media_type=HTML, status_code=status)


def compile_templates() -> None:
    """Read every template, so that nobody who opens a page has to wait for it."""
    for name in _environment().list_templates():
        _environment().get_template(name)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["code"] = with_code
    return made


def _shown(value: Any) -> Any:
    """Each text goes through the one view of untrusted text, unless it is markup of ours already."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
