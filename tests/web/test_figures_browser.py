"""In a real browser: selected runs are compared by a key, and no page of figures is wider than its window or complains."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.web import sample, sample_figures
from tests.web.served import ARGUMENTS, CHROMIUM, served
from tests.web.test_browser import Looking

from adjudge.store.store import Store, open_store
from adjudge.wiring import reviews

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("figures") / "store") as store:
        sample_figures.fill(store, tasks=3)
        yield store


@pytest.fixture(scope="module")
def browser(store: Store) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def test_c_opens_what_is_selected_side_by_side_and_y_copies_its_ids(browser: Browser, store: Store) -> None:
    with served(store) as door:
        looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
        page = looking.open("/runs?q=marshmallow-1300")
        page.keyboard.press("c")  # nothing is selected: nothing happens
        for _ in range(2):
            page.keyboard.press("j")
            page.keyboard.press("x")
        expect(page.locator(".selbar span")).to_have_text("2 selected")
        page.keyboard.press("c")
        page.wait_for_url("**/compare?run=*&run=*")
        expect(page.locator("h1")).to_have_text("2 runs side by side")
        assert looking.complaints == []
        looking.context.close()


def test_a_cell_of_the_matrix_leads_to_the_quoted_words(browser: Browser, store: Store) -> None:
    with served(store) as door:
        looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
        page = looking.open(f"/compare?rubric={sample.RUBRIC.hash}")
        page.locator("a.cell").first.click()
        page.wait_for_url("**/compare/pair?*")
        page.keyboard.press("]")
        page.wait_for_url("**&at=1")
        page.locator("a.cite.holds").first.click()
        expect(page.locator("mark:target, mark:has(:target)")).to_be_visible()
        looking.context.close()


def test_figures_that_are_being_counted_come_by_themselves(
    browser: Browser, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = threading.Event()

    def slowly(*asked: Any) -> Any:
        assert may.wait(60)
        return reviews.trust(*asked)

    monkeypatch.setattr("adjudge.web.queries.figures.trust", slowly)
    judged = next(row.run for row in store.judgments() if row.rubric_hash == sample.RUBRIC.hash)
    with served(store) as door:
        looking = Looking(browser, door)
        page = looking.page
        try:
            page.goto(f"{looking.base}/runs/{judged}")
            trust = page.locator("section[aria-labelledby=trust-h]")
            expect(trust).to_contain_text("The figures are being counted")
            expect(trust.locator("tbody")).to_have_count(0)
        finally:
            may.set()
        expect(trust.locator("tbody").first).to_contain_text("Blind agreement, raw", timeout=30_000)
        expect(trust).not_to_contain_text("being counted")
        assert looking.complaints == []
        looking.context.close()
