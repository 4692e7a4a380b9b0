"""A judgment as one HTML file that needs nothing else: no script, no request, every untrusted text escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from adjudge import __version__
from adjudge.exports.html.page import page_of
from adjudge.exports.judged import Judged
from adjudge.untrusted import shown

_FOLDER = Path(__file__).parent


def html_page(judged: Judged) -> str:
    """The page of a judgment.

    Its Content-Security-Policy allows the one style sheet within it, by hash, and nothing else. A long record is not
    put on the page whole: what is cited is, with an outline of the rest, and the page says so.
    """
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _template().render(page=page_of(judged, __version__), style=Markup(style), digest=digest)  # noqa: S704  ours


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _shown(value: Any) -> Any:
    """Each text that the template prints goes through the one view of untrusted text, unless it already did."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
