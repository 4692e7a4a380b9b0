"""The guard: what every response carries, and who is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from litestar.routes import HTTPRoute
from litestar.testing import TestClient

from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import HEADERS, Access, Doors, Guard
from adjudge.web.guard.hosts import host_of

from .conftest import ACCESS, BASE, RUN, TOKEN, Client
from .pictures import NAMES, PAIR
from .sample import RUBRIC

VALUES = NAMES | {
    "kind": "evaluator",
    "run": RUN,
    "judgment": "j-00000000000000e1",
    "exhibit": "e3",
    "look": "L1",
    "name": "app.css",
    "hash": "x",
    "path": "openapi.json",
    "job": "job-none",
    "provider": "openrouter",
    "item": "saves",
    "of_pass": "p-none",
}
QUERIES = {
    "/runs/{run:str}/entries": "?start=0&end=3",
    "/review/{judgment:str}/{item:str}/entries": "?start=0&end=3",
    "/judge": "?run={run}",
    "/compare/pair": "?rubric={rubric}&item={criterion}&" + PAIR,
}
"""What a path needs behind it."""


def address(path: str, values: Mapping[str, str]) -> str:
    """The address of a route's path, with these values for what it names."""
    return (re.sub(r"\{(\w+):\w+\}", r"{\1}", path) + QUERIES.get(path, "")).format_map(values)


def addresses(guard: Guard) -> list[tuple[str, str]]:
    """Every route and method that the router knows, but OPTIONS, which the guard refuses; with an address for each."""
    found = []
    for route in guard.app.routes:
        assert isinstance(route, HTTPRoute)
        found += [(str(method), address(route.path, VALUES)) for method in route.methods if method != "OPTIONS"]
    return found


def test_every_route_of_the_router_carries_the_full_set_of_headers(client: Client, guard: Guard) -> None:
    walked = addresses(guard)
    assert len(walked) >= 19
    for method, path in walked:
        answer = client.request(method, path)
        carried = {name: answer.headers.get_list(name) for name, _ in HEADERS}
        assert carried == {name: [value] for name, value in HEADERS}, (method, path)
        assert answer.status_code < 500, (method, path, answer.text)


@pytest.mark.parametrize("path", ["/nowhere", "/runs/r-none", "/runs?sort=sideways", "/static/none.css", "/api/nowhere"])
def test_an_error_carries_the_same_headers(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert {name: answer.headers[name] for name, _ in HEADERS} == dict(HEADERS)


def test_a_refusal_carries_the_same_headers(outside: Client) -> None:
    answer = outside.get("/runs", headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert {name: answer.headers[name] for name, _ in HEADERS} == dict(HEADERS)


def test_nothing_says_that_other_sites_may_read(client: Client, guard: Guard) -> None:
    for method, path in addresses(guard):
        answer = client.request(method, path, headers={"origin": BASE})
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_no_route_answers_without_the_token_but_the_door_and_the_style(outside: Client, guard: Guard) -> None:
    for method, path in addresses(guard):
        answer = outside.request(method, path, headers={"content-type": "application/json", "x-adjudge": "1"})
        is_open = path.startswith(("/enter", "/static/"))
        assert (answer.status_code == 401) == (not is_open or path == "/enter"), (method, path)


# --- host and origin

GOOD_HOSTS = ("127.0.0.1:8710", "127.0.0.1", "localhost:8710", "LOCALHOST", "localhost.:8710", "[::1]:8710", "[::1]")
BAD_HOSTS = (
    *("evil.example", "evil.example:8710", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.2", "0.0.0.0"),
    *("localhost@evil.example", "evil.example#localhost", "localhost/", "", "127.0.0.1:99999", "127.0.0.1:8710:8710"),
    *("[::1", "::1", "[::2]:8710", "local host", "127.1", "2130706433", "xn--localhost-"),
)


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_the_servers_own_names_are_answered(client: Client, host: str) -> None:
    assert client.get("/api/runs", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", BAD_HOSTS)
def test_another_name_is_not_answered_even_with_the_token(client: Client, host: str) -> None:
    assert client.get("/api/runs", headers=[("host", host)]).status_code == 421


ORIGINS = {
    BASE: 200,
    "HTTP://127.0.0.1:8710": 200,
    "http://127.0.0.1:8711": 403,
    "http://127.0.0.1": 403,
    "https://127.0.0.1:8710": 403,
    "http://localhost:8710": 403,
    "http://evil.example": 403,
    "http://127.0.0.1:8710.evil.example": 403,
    "http://127.0.0.1:8710@evil.example": 403,
    "null": 403,
    "file://": 403,
    "": 403,
    "chrome-extension://abcdef": 403,
}


@pytest.mark.parametrize(("origin", "status"), ORIGINS.items())
def test_only_our_own_pages_may_ask(client: Client, origin: str, status: int) -> None:
    assert client.get("/api/runs", headers={"origin": origin}).status_code == status


FOREIGN_HOSTS = ("evil.example", "127.0.0.1.evil.example:8710")
OWN_HOSTS = ("127.0.0.1:8710", "localhost:8710", "127.0.0.1:8711")
"""The last one is ours behind a forwarded port."""


@pytest.mark.parametrize("origin", [*ORIGINS, "http://[::1]:8710"])
@pytest.mark.parametrize("host", [*OWN_HOSTS, *FOREIGN_HOSTS])
def test_host_and_origin_must_both_be_ours_and_the_same(client: Client, host: str, origin: str) -> None:
    answer = client.get("/api/runs", headers=[("host", host), ("origin", origin)])
    same = origin.lower() == f"http://{host}" and host in OWN_HOSTS
    assert (answer.status_code == 200) == same, answer.status_code


SITES = (
    ("same-origin", "cors", "empty", 200),
    ("none", "navigate", "document", 200),
    ("cross-site", "navigate", "document", 200),
    ("same-site", "navigate", "document", 200),
    ("cross-site", "no-cors", "script", 403),
    ("cross-site", "no-cors", "image", 403),
    ("cross-site", "navigate", "iframe", 403),
    ("same-site", "cors", "empty", 403),
)


@pytest.mark.parametrize(("site", "mode", "dest", "status"), SITES)
def test_what_another_site_embeds_is_refused(client: Client, site: str, mode: str, dest: str, status: int) -> None:
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest}
    assert client.get("/api/runs", headers=headers).status_code == status


def test_two_host_headers_are_none(client: Client) -> None:
    assert client.get("/api/runs", headers=[("host", "127.0.0.1"), ("host", "localhost")]).status_code == 421


@pytest.mark.parametrize(
    "text", ["localhost:", "a..b:x", "-a", "[:::::::::::::::::::::::::::::::::::::::::::::::::]", "a" * 300]
)
def test_what_is_no_host_is_none(text: str) -> None:
    assert host_of(text) is None


# --- changes

CHANGE = {"content-type": "application/json", "x-adjudge": "1"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (CHANGE, 405),
        ({"content-type": "application/json"}, 403),
        ({"x-adjudge": "1"}, 415),
        ({"x-adjudge": "1", "content-type": "application/x-www-form-urlencoded"}, 415),
        ({"x-adjudge": "1", "content-type": "text/plain"}, 415),
        ({"x-adjudge": "1", "content-type": "multipart/form-data; boundary=x"}, 415),
    ],
)
def test_a_change_is_json_with_our_header_or_nothing(client: Client, headers: dict[str, str], status: int) -> None:
    """What passes the guard meets a route that knows no such method."""
    assert client.post("/api/runs", content=b"{}", headers=headers).status_code == status


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "OPTIONS"])
def test_other_methods_are_not_answered(client: Client, method: str) -> None:
    assert client.request(method, "/api/runs").status_code == 405


def test_a_long_address_and_a_large_body_are_refused(client: Client) -> None:
    assert client.get("/runs?q=" + "a" * 9_000).status_code == 414
    assert client.post("/api/runs", content=b"a" * 1_000_001, headers=CHANGE).status_code == 413


COSTS = {
    f"/api/runs/{RUN}/judge": {"rubric": RUBRIC.hash},
    "/api/judge": {"runs": [RUN], "rubric": RUBRIC.hash},
    "/api/ask": {"question": "Which agent resolves most?"},
    "/api/passes": {"plan": "x", "rubric": RUBRIC.hash},
}


@pytest.mark.parametrize("path", COSTS)
def test_without_a_token_nothing_is_begun_that_costs(store: Store, path: str) -> None:
    access = Access(ACCESS.names, None, port=8710)
    client = TestClient(create_app(store, Settings(), access, Doors()), base_url=BASE)
    answer = client.post(path, json=COSTS[path], headers=CHANGE)
    assert (answer.status_code, "--no-token" in answer.text) == (400, True)


# --- the door


@pytest.mark.parametrize("level", ["[", '{"name":'])
def test_a_body_that_is_nested_deeply_is_the_senders_mistake(client: Client, level: str) -> None:
    answer = client.put("/api/reviewer", content=level * 100_000, headers=CHANGE)
    assert (answer.status_code, "nested too deeply" in answer.text) == (400, True)


def test_a_browser_gets_the_cookie_for_the_code_once(store: Store) -> None:
    announced: list[str] = []
    doors = Doors(announced.append)
    first = doors.code
    client = TestClient(create_app(store, Settings(), ACCESS, doors), base_url=BASE)
    assert client.get("/runs").status_code == 401
    answer = client.get("/enter", params={"code": first})
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in (f"adjudge-8710={TOKEN}", "HttpOnly", "SameSite=strict", "Path=/"))
    assert TOKEN not in answer.text
    assert client.get("/runs").status_code == 200
    client.cookies.clear()
    assert client.get("/enter", params={"code": first}).status_code == 401
    assert client.get("/enter", params={"code": announced[-1]}).status_code == 200


@pytest.mark.parametrize("code", ["", "x", "\x00", "é", "a" * 500])
def test_another_code_opens_nothing(outside: Client, code: str) -> None:
    assert outside.get("/enter", params={"code": code}).status_code == (400 if "\0" in code else 401)


@pytest.mark.parametrize("given", [TOKEN[:-1], TOKEN + "t", "", "é" * 43, TOKEN.upper()])
def test_another_token_opens_nothing(outside: Client, given: str) -> None:
    for name, value in (("cookie", f"adjudge-8710={given}"), ("authorization", f"Bearer {given}")):
        assert outside.get("/api/runs", headers=[(name.encode(), value.encode())]).status_code == 401


def test_the_cookie_of_another_port_opens_nothing(outside: Client) -> None:
    assert outside.get("/api/runs", headers={"cookie": f"adjudge-8711={TOKEN}"}).status_code == 401


def test_other_programs_cookies_do_not_hide_ours(outside: Client) -> None:
    cookies = f'weird[]="a;b"; =; ; session=1; adjudge-8710={TOKEN}'
    assert outside.get("/api/runs", headers={"cookie": cookies}).status_code == 200


def test_over_tls_the_cookie_is_for_tls_alone(store: Store) -> None:
    doors = Doors()
    access = Access(frozenset({"judge.example"}), TOKEN, secure=True, port=443)
    client = TestClient(create_app(store, Settings(), access, doors), base_url="https://judge.example")
    answer = client.get("/enter", params={"code": doors.code})
    assert answer.headers["set-cookie"].startswith(f"__Host-adjudge-443={TOKEN}")
    assert "Secure" in answer.headers["set-cookie"]
    assert "strict-transport-security" in answer.headers
