"""What is hostile, planted wherever something of others can stand: on no page does it run, load or lead away."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.web.sample_planted import Planted, plant
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.exports.html import html_page
from adjudge.reviews.values import Order
from adjudge.store.store import open_store
from adjudge.web.guard import Guard

from .test_browser import Looking
from .test_hostile import HOSTILE
from .walk import addresses, pictured

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
CORPUS = SHARED / "injection" / "corpus.jsonl"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("injected"),
    pytest.mark.slow,
]
FURTHER = (
    "/runs?q={word}&task={task}&agent={agent}",
    "/runs/{run}?at={exhibit}",
    "/runs/{run}?kind=result",
    "/runs/{run}?q={word}&kind=message",
    "/runs/{run}?judgment={judgment}",
    "/results?rubric={rubric}&judge=none",
    "/results?rubric={dimensions}&by=task&by=model",
    "/results/{of_pass}?by=task",
    "/compare?pass={of_pass}",
    "/compare?rubric={rubric}&agent={first}&agent={second}",
    "/review?order=random&agent={agent}&rubric={rubric}",
    *(f"/review?order={order}&criterion=c1" for order in get_args(Order)),
    "/review/{judgment}/c1?seen=true",
    "/review/{judgment}/c1?q={word}",
    "/review/{reading}/d1?seen=true",
    "/passes/new?rubric={rubric}&model={word}&always={stratum}&share={word}",
    "/ask?q={word}",
    "/ask/{asking}",
    "/live/{judging}",
    "/live/{judging}/steps",
)
"""States of pages that neither the router nor the pictures name."""


def of_corpus() -> list[str]:
    """Every payload of the shared corpus, the flooding ones in their full length."""
    if not CORPUS.is_file():
        pytest.skip("ADJUDGE_SHARED names no folder that holds injection/corpus.jsonl")
    lines = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    found = [(line["payload"], line.get("repeat_to", 0)) for line in lines if line["payload"].strip()]
    return [text * max(1, -(-length // len(text))) for text, length in found]


@pytest.fixture(scope="module", params=["ours", "shared"])
def planted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    texts = of_corpus() if request.param == "shared" else list(HOSTILE)
    with open_store(tmp_path_factory.mktemp("injected") / "store") as store, plant(store, texts) as planted:
        yield planted


@pytest.fixture(scope="module")
def browser(planted: Planted) -> Iterator[Browser]:
    """A browser that knows no other host. The store comes first: see `test_browser.browser`."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*ARGUMENTS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield browser
        browser.close()


FOREIGN = """() => ({
    scripts: [...document.scripts].map(each => each.outerHTML),
    handlers: [...document.querySelectorAll("*")].flatMap(each => each.getAttributeNames()).filter(name => /^on|^style$|^srcdoc$/.test(name)),
    loaded: document.querySelectorAll("img, iframe, object, embed, base, style, video, audio").length,
    leads: [...document.links].map(each => each.href),
})"""  # noqa: E501
SCRIPT = '<script src="/static/app.js" defer=""></script>'
LOADED = {"/static/app.js", "/static/app.css", "/static/icon.svg"}


def test_nothing_of_it_runs_loads_or_leads_away_on_any_page(browser: Browser, planted: Planted, guard: Guard) -> None:
    with served(planted.store, prepare=planted.under_way) as door:
        looking = Looking(browser, door)
        looking.page.request.put(f"{looking.base}/api/reviewer", data={"name": "Ada"}, headers={"x-adjudge": "1"})
        jobs = planted.under_way
        names = planted.names | {"job": jobs.answered, "judging": jobs.judging, "asking": jobs.asking}
        further = [path.format_map(names) for path in FURTHER]
        for path in dict.fromkeys((*addresses(guard, names), *pictured(names), *further)):
            assert not (wrong := what_is_wrong(looking, path)), (path, wrong)
        looking.context.close()


def what_is_wrong(looking: Looking, path: str) -> dict[str, Any]:
    """What a page has that is not of ours, and what it asked for; nothing, if all is well."""
    looking.asked.clear()
    looking.complaints.clear()
    looking.page.goto("about:blank")
    answer = looking.page.goto(looking.base + path)
    looking.traffic.settle()
    found = looking.page.evaluate(FOREIGN)
    fetched = {urlsplit(url).path for url in looking.asked} - LOADED
    wrong = {
        "status": answer.status if answer and answer.status != 200 else None,
        "scripts": set(found["scripts"]) - {SCRIPT},
        "handlers": found["handlers"],
        "loaded": found["loaded"],
        "leads": [lead for lead in found["leads"] if not lead.startswith(f"{looking.base}/")],
        "asked": [url for url in looking.asked if not url.startswith(f"{looking.base}/")],
        "fetched": [one for one in fetched if re.search(r"\.(js|css|svg|png|ico)$", one)],
        "complaints": looking.complaints[:],
    }
    return {name: what for name, what in wrong.items() if what}


def test_nothing_of_it_runs_or_loads_in_the_exported_page(browser: Browser, planted: Planted, tmp_path: Path) -> None:
    for number, each in enumerate(planted.exported):
        file = tmp_path / f"{number}.html"
        file.write_text(html_page(each), encoding="utf-8", errors="replace")
        found, asked, complaints = looked_at(browser, file.as_uri())
        assert (found["scripts"], found["handlers"]) == ([], [])
        assert found["loaded"] == 1  # its own style sheet, which stands in it
        assert [lead for lead in found["leads"] if not lead.startswith(f"{file.as_uri()}#")] == []
        assert asked == [file.as_uri()]
        assert complaints == []


def looked_at(browser: Browser, address: str) -> tuple[Any, list[str], list[str]]:
    """What a browser makes of a page, what it asks for, and what it complains of."""
    asked: list[str] = []
    complaints: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(address)
    found = page.evaluate(FOREIGN)
    context.close()
    return found, asked, complaints
