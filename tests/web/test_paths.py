"""Names that try to be paths: each is a word that names nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from litestar.routes import HTTPRoute

from adjudge.web.guard import Guard

from .conftest import Client
from .test_guard import CHANGE, VALUES

ENCODED = (
    "../",
    "..%2f",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%252f",
    "..%5c",
    "..%255c",
    "....//",
    "%c0%ae%c0%ae/",
    "..%u2215",
    ".%00./",
)
WANTED = ("etc/passwd", "guard/access.py", "keys.json", "%2fetc%2fshadow")
STEPS = (
    *(2 * way + name for way in ENCODED for name in WANTED),
    *("//proc/self/root/etc/passwd", "/proc/self/environ", "file:///etc/passwd", "app.css%00.png", "css/tokens.css"),
    *("app.css%23%2f..%2fapp.js", "app.css%2f..%2f..%2fguard%2faccess.py", "~/.ssh/id_rsa", "C:%5cwindows%5cwin.ini"),
    *("%5c%5chost%5cshare", "CON", "app.css.", "APP.CSS", "app.css%20", "__init__.py", "app.css::$DATA"),
)
"""Sixty ways."""


def places(guard: Guard) -> Iterator[tuple[str, str]]:
    """Each parameter of each path and method that the router knows: the method, and an address with `{}` in its place."""
    for route in guard.app.routes:
        assert isinstance(route, HTTPRoute)
        path = re.sub(r"(\w+):\w+", r"\1", route.path)
        for name in re.findall(r"\{(\w+)\}", path):
            others = path.format_map(VALUES | {name: "{}"})
            yield from ((str(method), others) for method in sorted(route.methods) if method != "OPTIONS")


def test_there_are_enough_of_them(guard: Guard) -> None:
    assert len(set(STEPS)) >= 60
    assert len(set(places(guard))) >= 30


def test_no_path_gets_out(client: Client, guard: Guard) -> None:
    for method, place in places(guard):
        for step in STEPS:
            answer = client.request(method, place.format(step), content=b"{}", headers=CHANGE, follow_redirects=False)
            assert answer.status_code in (303, 307, 400, 404, 405), (method, place, step, answer.status_code)
            assert "root:" not in answer.text, (place, step)
            assert "SHORTEST_TOKEN" not in answer.text, (place, step)


@pytest.mark.parametrize("address", ["/runs/%00", "/api/rubrics/%00", "/compare?run=%00", "/review?criterion=a%00b"])
def test_an_address_with_a_nul_is_refused_before_a_database_sees_it(client: Client, address: str) -> None:
    assert client.get(address).status_code == 400


@pytest.mark.parametrize(
    "value", ["0 OR 1=1", "'; DROP TABLE runs; --", "%00", "\ud800".encode("utf-8", "surrogatepass"), "💥" * 70]
)
def test_odd_words_in_a_filter_find_nothing_and_break_nothing(client: Client, value: str | bytes) -> None:
    for name in ("q", "agent", "task"):
        assert client.get("/runs", params={name: value}).status_code in (200, 400)


@pytest.mark.parametrize("key", ["x", "AAAA", "eyJ2YWx1ZSI6MX0", "%00", "W10", "bnVsbA"])
def test_a_place_that_no_page_gave_is_refused(client: Client, key: str) -> None:
    assert client.get("/runs", params={"after": key}).status_code == 404
