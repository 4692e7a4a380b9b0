"""One walk through the whole interface in a real browser: what a person does on the first day.

import → rubric → build → judge → run page → citation → blind review → compare → results.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge import wiring
from adjudge.errors import MachineError
from adjudge.machines.selftest import proven_view
from adjudge.settings import Settings
from adjudge.store.store import Store, open_store

from .test_browser import Looking, hears, in_view

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.slow,
]

PROBES = """name: greeting
criteria:
  - id: written
    text: hello.txt holds the line `hello`.
    probe: { file: hello.txt, equals: "hello\\n" }
"""


@pytest.fixture
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An empty store."""
    with open_store(tmp_path_factory.mktemp("walk") / "store") as store:
        yield store


@pytest.fixture
def looking(store: Store) -> Iterator[Looking]:
    try:
        asyncio.run(proven_view())
    except MachineError as error:
        pytest.skip(str(error))
    with served(store, Settings(store=str(store.folder))) as door, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield Looking(browser, door, viewport={"width": 1440, "height": 900})
        browser.close()


def test_from_a_recording_to_results(looking: Looking) -> None:
    imported = _import(looking)
    rubric = _keep_rubric(looking, (wiring.DEMO / "rubric.yaml").read_text())
    built = _build(looking, _keep_rubric(looking, PROBES))
    judged = _judge(looking, imported, rubric)
    _click_a_citation(judged)
    _review_blind(looking, rubric)
    _compare(looking, [imported, built])
    _results(looking, rubric)
    assert [url for url in looking.asked if not url.startswith(looking.base)] == []
    assert looking.complaints == []


def _import(looking: Looking) -> str:
    page = looking.open("/import")
    page.locator("input[name=path]").fill(str(wiring.DEMO))
    page.get_by_role("button", name="Import").click()
    _see_what_came(page)
    expect(page.locator("body")).to_contain_text("roman.sh")
    return _run_on(page)


def _keep_rubric(looking: Looking, text: str) -> str:
    page = looking.open("/rubrics/new")
    page.get_by_label("The rubric, in YAML, TOML or JSON").fill(text)
    expect(page.locator("#rubric-said")).to_contain_text("criteri")
    page.get_by_label("The rubric, in YAML, TOML or JSON").press("Control+Enter")
    page.wait_for_url(re.compile("/rubrics/[0-9a-f]{64}$"))
    return page.url.rpartition("/")[2]


def _build(looking: Looking, rubric: str) -> str:
    page = looking.open(f"/build?rubric={rubric}")
    page.get_by_label("Task", exact=True).fill("Write hello into hello.txt.")
    page.locator("input[name=agents][value=command]").check()
    page.get_by_label("Command", exact=True).fill("sh -c 'echo hello > hello.txt'")
    page.get_by_role("button", name="Start the run").click()
    _see_what_came(page)
    expect(page.locator("#v1")).to_contain_text("pass")
    return _run_on(page)


def _judge(looking: Looking, run: str, rubric: str) -> Page:
    page = looking.open(f"/runs/{run}/judge")
    page.locator(f"input[name=rubric][value='{rubric}']").check()
    page.get_by_role("textbox", name="Model").fill(f"recorded/{wiring.DEMO / 'exchange.json'}")
    page.locator("form.build").get_by_role("button", name="Judge").click()
    page.wait_for_url("**/live/job-*")
    expect(page.locator(".steps > li").nth(3)).to_be_visible(timeout=60_000)
    _see_what_came(page)
    expect(page.locator(".cards .card")).to_have_count(8)
    return page


def _click_a_citation(page: Page) -> None:
    cite = page.locator("#v2 a.cite").first
    quote = cite.locator("q").inner_text()
    cite.click()
    expect(page.locator("mark:target")).to_be_visible()
    assert " ".join(page.locator("mark:target").inner_text().split()) == " ".join(quote.split())
    assert in_view(page, "mark:target")


def _review_blind(looking: Looking, rubric: str) -> None:
    page = looking.open(f"/review?rubric={rubric}")
    page.get_by_label("Name").fill("Grace")
    page.get_by_role("button", name="This is my name").click()
    page.get_by_role("link", name="Begin").click()
    expect(page.get_by_role("heading", name="Is this true of the run?")).to_be_visible()
    assert page.locator("mark").count() == 0, "a blind reviewer is shown what the judge cites"
    hears(page).keyboard.press("1")
    page.get_by_label("Why").fill("The record shows it.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="What the judge said")).to_be_visible()


def _compare(looking: Looking, runs: list[str]) -> None:
    page = looking.open("/runs")
    for run in runs:
        page.locator(f"input[name=run][value='{run}']").check()
    page.get_by_role("heading", name="Runs").click()
    page.keyboard.press("c")
    page.wait_for_url("**/compare?run=*")
    for run in runs:
        expect(page.locator("main")).to_contain_text(run)


def _results(looking: Looking, rubric: str) -> None:
    page = looking.open("/results")
    page.locator(f"a[href*='{rubric}']").first.click()
    expect(page.get_by_role("heading", name="Results by criterion")).to_be_visible()
    expect(page.locator("main")).to_contain_text("1 item")
    expect(page.locator("main")).to_contain_text("not yet meaningful")


def _see_what_came(page: Page) -> None:
    page.wait_for_url("**/live/job-*")
    expect(page.locator('.stands[data-state="done"]')).to_be_visible(timeout=90_000)
    page.get_by_role("link", name="See what came of it").click()
    page.wait_for_url("**/runs/r-*")


def _run_on(page: Page) -> str:
    return page.url.rpartition("/")[2].partition("?")[0].partition("#")[0]
