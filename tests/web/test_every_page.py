"""Over every page of the router, in a real browser: whoever reads it by ear, by key or in the dark reads all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

import pytest
from litestar import get
from litestar.testing import TestClient
from playwright.sync_api import Browser, Page, sync_playwright
from tests.web import sample_doing, sample_figures, sample_passes
from tests.web.sample_asking import KeptJob, an_asking, kept_asking
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.errors import OutsideError
from adjudge.settings import Settings
from adjudge.store.store import Store, open_store
from adjudge.web.app import create_app
from adjudge.web.guard import Doors, Guard

from .conftest import ACCESS, BASE, TOKEN, Client
from .pictures import DOOR, EMPTY, PAGES
from .sample import RUBRIC
from .test_browser import Looking
from .test_guard import VALUES, address
from .walk import addresses, parameters, pictured, routes

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
SHAPES = {
    "light": (1440, "light", None),
    "dark": (1440, "dark", ["color-contrast", "link-in-text-block"]),
    "narrow": (360, "light", None),
}
"""Width, colours, and the rules that are asked, or all: of the same page in the dark only the colours are others."""
WIDTHS = (360, 768, 1440, 2200)
Prepare = Callable[[Guard], Coroutine[Any, Any, object]]
pytestmark = pytest.mark.xdist_group("every page")
UNFOLDED = """() => {
    for (const fold of document.querySelectorAll("details.rest")) fold.open = true;
    for (const box of document.querySelectorAll(".opt input")) box.checked = true;
}"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with something for every page."""
    with sample_figures.make(tmp_path_factory.mktemp("every") / "store") as store:
        sample_doing.fill(store)
        yield store


@pytest.fixture(scope="module")
def names(store: Store) -> Iterator[dict[str, str]]:
    """Its passes, by what they show."""
    with sample_passes.passes(store) as names:
        yield names


@pytest.fixture(scope="module")
def guard(store: Store) -> Guard:
    return create_app(store, Settings(store=str(store.folder)), ACCESS, Doors())


@pytest.fixture(scope="module")
def client(guard: Guard) -> Client:
    client = TestClient(guard, base_url=BASE, raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {TOKEN}"
    return client


@pytest.fixture(scope="module")
def values(guard: Guard, names: dict[str, str]) -> dict[str, str]:
    """What paths name, of what the store holds."""
    job = asyncio.run(kept_asking(guard, an_asking()))
    return {"job": job, "hash": RUBRIC.hash, "of_pass": names["finished"]}


def test_every_parameter_of_a_path_has_a_value_to_be_walked_with(guard: Guard) -> None:
    missing = parameters(guard) - VALUES.keys()
    assert not missing, f"VALUES in test_guard.py has no value for {', '.join(sorted(missing))}"


def test_every_page_is_there(guard: Guard, client: Client, values: dict[str, str]) -> None:
    """A page that is not is walked in vain by the tests below: its values in VALUES, or in `values`, name nothing."""
    walked = addresses(guard, values)
    assert len(walked) >= 16
    found = {path: client.get(path) for path in walked}
    assert {path: answer.status_code for path, answer in found.items() if answer.status_code != 200} == {}
    assert [path for path, answer in found.items() if not answer.headers["content-type"].startswith("text/html")] == []


def test_every_page_has_a_picture(guard: Guard, client: Client, values: dict[str, str]) -> None:
    known = VALUES | values
    found = {path: client.get(address(path, known), follow_redirects=False) for path in routes(guard)}
    framed = [path for path, answer in found.items() if 'id="main"' in answer.text]
    assert len(framed) >= 20
    shown = {urlsplit(path).path for path in (*PAGES.values(), *EMPTY.values(), *DOOR.values())}
    assert [path for path in framed if not any(shows(path, one) for one in shown)] == []


def shows(path: str, pictured: str) -> bool:
    """Whether an address that is pictured is one of a route's path, and of no other's."""
    parts, others = path.split("/"), pictured.split("/")
    return len(parts) == len(others) and all(
        part == other or (part[:1] == "{" == other[:1]) for part, other in zip(parts, others, strict=True)
    )


# --- accessibility


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that holds nothing."""
    with open_store(tmp_path_factory.mktemp("empty") / "store") as store:
        yield store


@pytest.fixture(scope="module")
def browser(names: dict[str, str], empty: Store) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def has_frame(page: Page) -> bool:
    """Whether it is a page for people: pieces, which a page puts into itself, have no frame."""
    return page.locator("main#main").count() == 1


def accused(page: Page, shape: str) -> Iterator[str]:
    """What axe finds that is serious: the rule and the element."""
    width, scheme, rules = SHAPES[shape]
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # a scheme
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    for rule in page.evaluate("options => axe.run(document, options)", options)["violations"]:
        if rule["impact"] in ("serious", "critical"):
            for node in rule["nodes"][:3]:
                yield f"{shape}: {rule['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"


CRUSHED = """() => {
    const box = (each) => {
        const range = document.createRange();
        range.selectNodeContents(each);
        return range.getBoundingClientRect();
    };
    const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (words.nextNode()) {
        const word = words.currentNode, said = word.textContent.trim();
        if (!/^[A-Za-z]{4,12}$/.test(said) || !word.parentElement.checkVisibility()) continue;
        if (box(word).height > 1.5 * parseFloat(getComputedStyle(word.parentElement).lineHeight)) found.push(said);
    }
    return found;
}"""


def crushed(page: Page) -> Iterator[str]:
    """The short words that have so little room that they are broken into several lines."""
    for width in (360, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        yield from (f"at {width} px has no room for the word {word}" for word in page.evaluate(CRUSHED))


def overflowing(page: Page) -> Iterator[str]:
    """The widths at which it scrolls sideways, with all that is folded open."""
    page.evaluate(UNFOLDED)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            yield f"scrolls sideways at {width} px"


def findings(page: Page, name: str, shapes: Iterable[str] = SHAPES) -> Iterator[str]:
    """Everything that is wrong with the page that is open."""
    page.evaluate(AXE)
    for found in (crushed(page), *(accused(page, shape) for shape in shapes), overflowing(page)):
        yield from (f"{name} {finding}" for finding in found)


@contextmanager
def looking_at(browser: Browser, store: Store, prepare: Prepare | None = None) -> Iterator[Looking]:
    """A window on a store; the policy allows no foreign script, so that axe comes in by the browser's own door."""
    with served(store, prepare=prepare) as door:
        looking = Looking(browser, door, bypass_csp=True, reduced_motion="reduce")
        looking.page.request.put(f"{looking.base}/api/reviewer", data={"name": "Ada"}, headers={"x-adjudge": "1"})
        yield looking
        looking.context.close()


needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)")


@pytest.mark.slow
@needs_chromium
def test_every_page_is_for_everybody(browser: Browser, store: Store, guard: Guard, names: dict[str, str]) -> None:
    job = KeptJob(an_asking())
    found: list[str] = []
    with looking_at(browser, store, job) as looking:
        of_pages = addresses(guard, {"job": job.id, "hash": RUBRIC.hash, "of_pass": names["finished"]})
        for path in dict.fromkeys((*of_pages, *pictured(names | {"job": job.id}))):
            page = looking.open(path)
            if has_frame(page):
                found += findings(page, path)
    assert not found, "\n".join(found)
    assert looking.complaints == []
    assert [url for url in looking.asked if not url.startswith(looking.base)] == []


@pytest.mark.slow
@needs_chromium
def test_every_page_of_an_empty_store_is_for_everybody(browser: Browser, empty: Store) -> None:
    with looking_at(browser, empty) as looking:
        found = [finding for path in EMPTY.values() for finding in findings(looking.open(path), f"empty {path}")]
    assert not found, "\n".join(found)


async def with_failures(guard: Guard) -> None:
    """Gives a server two pages that fail: by a bug, and by a disk."""

    @get("/bug", include_in_schema=False, sync_to_thread=False)
    def bug() -> None:
        raise RuntimeError("a test's own")

    @get("/disk", include_in_schema=False, sync_to_thread=False)
    def disk() -> None:
        raise OutsideError("the disk is full")

    guard.app.register(bug)
    guard.app.register(disk)


REFUSED = {
    "/nowhere": 404,
    "/runs/r-none": 404,
    "/runs?sort=sideways": 400,
    "/runs?q=%00": 400,
    f"/runs?q={'a' * 9_000}": 414,
    "/bug": 500,
    "/disk": 503,
}


@pytest.mark.slow
@needs_chromium
def test_every_page_that_says_what_went_wrong_is_for_everybody(browser: Browser, empty: Store) -> None:
    found: list[str] = []
    with looking_at(browser, empty, with_failures) as looking:
        outside = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
        elsewhere = f"{looking.base.replace('127.0.0.1', 'localhost')}/runs"
        closed = [(outside, looking.base + path, 401) for path in (*DOOR.values(), "/enter")]
        refused = [(looking.page, looking.base + path, status) for path, status in REFUSED.items()]
        for page, place, status in (*refused, *closed, (outside, elsewhere, 421)):
            answer = page.goto(place)
            assert answer is not None
            assert answer.status == status, place
            # another name is refused the style sheet too, and of a browser's own colours axe knows the light ones alone
            found += findings(page, place[:100], ("light", "narrow") if place == elsewhere else SHAPES)
        outside.context.close()
    assert not found, "\n".join(found)


FAULTY = (
    ("/rubrics/new", "#rubric-text", "criteria: [", "Control+Enter", "#rubric-said .wrong"),
    ("/build", "#instructions", "x", "Control+Enter", "#build-open:not(:empty)"),
    ("/import", "input[name=path]", "/nowhere", "Enter", ".msg.fail"),
    ("/ask?q=How+many%3F", "#model", "openai/gpt-4o", "Control+Enter", ".msg.fail"),
)
"""A page, a field of its form, words that are wrong there, the keys that send it, and what then says so."""


@pytest.mark.slow
@needs_chromium
def test_every_form_with_a_fault_is_for_everybody(browser: Browser, empty: Store) -> None:
    found: list[str] = []
    with looking_at(browser, empty) as looking:
        for path, field, words, keys, fault in FAULTY:
            page = looking.open(path)
            page.locator(field).fill(words)
            page.locator(field).press(keys)
            page.locator(fault).first.wait_for()
            looking.traffic.settle()
            found += findings(page, f"{path} with a fault")
    assert not found, "\n".join(found)
