"""Addresses of pages: the one place where an untrusted word becomes part of a link."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote, quote_plus

from markupsafe import Markup

Value = str | int | None | Sequence[str]


def address(*path: str, at: str = "", **query: Value) -> Markup:
    """The address of a page: its path, the query without what is `None` or nothing, and the place `at` on the page.

    Of several values of a name each is given.

    Everything is percent-encoded, so that it is markup that needs no second look.
    """
    given = [
        f"{name.rstrip('_')}={_encoded(str(value), quote_plus)}"
        for name, values in query.items()
        for value in _each(values)
    ]
    text = "/" + "/".join(_encoded(part) for part in path)
    text += "?" + "&amp;".join(given) if given else ""
    text += "#" + _encoded(at) if at else ""
    return Markup(text)  # noqa: S704  percent-encoded above


_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")


def _encoded(word: str, encode: Callable[..., str] = quote) -> str:
    """A word of an address. Ids and numbers, which are most of them, are what they stand for."""
    return word if _PLAIN.fullmatch(word) else encode(word.encode("utf-8", "replace"), safe="")


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
