"""Every page that the router has, with an address for each: none can be forgotten, and new ones walk along."""

from __future__ import annotations

import re
from collections.abc import Mapping

from litestar.routes import HTTPRoute

from adjudge.web.guard import Guard

from .pictures import NAMES, PAGES
from .test_guard import VALUES, address

NO_PAGES = ("/api", "/static/", "/enter")


def routes(guard: Guard) -> list[str]:
    """The paths of all pages and pieces of pages, as the router has them."""
    found = [route for route in guard.app.routes if isinstance(route, HTTPRoute) and "GET" in route.methods]
    return sorted(route.path for route in found if not route.path.startswith(NO_PAGES))


def parameters(guard: Guard) -> set[str]:
    """The names of all parameters in paths of pages."""
    return {name for path in routes(guard) for name in re.findall(r"\{(\w+):\w+\}", path)}


def addresses(guard: Guard, values: Mapping[str, str]) -> list[str]:
    """An address for each path; what `values` does not name is as in the guard's own walk."""
    known = VALUES | dict(values)
    return [address(path, known) for path in routes(guard)]


def pictured(names: Mapping[str, str]) -> list[str]:
    """The pages of which pictures are made: further states of the same paths, of those that differ by a place only one.

    `names` are what they name, where that is not the sample's.
    """
    places = re.compile(r"#[vd]\d.*|#judge.*")
    known = NAMES | dict(names)
    pages = (path for path in PAGES.values() if path != PAGES["missing"])
    return list(dict.fromkeys(places.sub("", path).format_map(known) for path in pages))
