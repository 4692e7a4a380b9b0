"""In a real browser: selected runs are compared by a key, and no page of figures is wider than its window or complains."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.web import sample, sample_figures
from tests.web.served import ARGUMENTS, CHROMIUM, served
from tests.web.test_browser import Looking

from adjudge.store.store import Store, open_store

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
