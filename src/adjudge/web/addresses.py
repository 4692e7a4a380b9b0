"""Addresses of pages: the one place where an untrusted word becomes part of a link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

Value = str | int | None | Sequence[str]

LONGEST = 300
"""Characters of a word to filter or search by."""


def address(*path: str, at: str = "", **query: Value) -> Markup:
    """The address of a page: its path, the query without what is `None` or nothing, and the place `at` on the page.

    Of several values of a name each is given.

    Everything is percent-encoded, so that it is markup that needs no second look.
    """
    given = [(name.rstrip("_"), value) for name, values in query.items() for value in _each(values)]
    text = "/" + "/".join(quote(part.encode("utf-8", "replace"), safe="") for part in path)
    text += "?" + urlencode([(name, str(value).encode("utf-8", "replace")) for name, value in given]) if given else ""
    text += "#" + quote(at.encode("utf-8", "replace"), safe="") if at else ""
    return Markup(escape(text))  # noqa: S704  percent-encoded above


def _each(values: Value) -> Iterator[str | int]:
    if values is None or values == "":
        return
    if isinstance(values, str | int):
        yield values
    else:
        yield from values


def of_run(run: str, at: str = "", **query: Value) -> Markup:
    """The page of a run."""
    return address("runs", run, at=at, **query)
