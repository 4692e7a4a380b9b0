"""In a real browser: a blind review by keys alone, and a question whose answer comes while one looks on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.web import sample
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.store.reviews import reviews_of
from adjudge.store.store import Store

from .test_browser import Looking, hears

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
]
EVALUATION = "j-00000000000000e1"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with sample.make(tmp_path_factory.mktemp("saying") / "store") as store:
        yield store


@pytest.fixture(scope="module")
def browser(kept: Store) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def looking(browser: Browser, kept: Store) -> Iterator[Looking]:
    with served(kept) as door:
        looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
        yield looking
        assert [words for words in looking.complaints if "400" not in words] == []
        looking.context.close()


def test_a_blind_review_is_made_with_keys_alone(looking: Looking, kept: Store) -> None:
    page = looking.open(f"/review/{EVALUATION}/saves?order=random")
    page.get_by_label("Name").fill("Ada")
    page.get_by_role("button", name="This is my name").click()
    expect(page.get_by_text("What the judge said is hidden")).to_be_visible()
    hears(page).keyboard.press("2")
    expect(page.get_by_role("radio", name="fail")).to_be_checked()
    expect(page.get_by_label("Why")).to_be_focused()
    page.keyboard.type("1 e40 shows it, 2 times")
    expect(page.get_by_role("radio", name="fail")).to_be_checked()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="What the judge said", level=1)).to_be_visible()
    hears(page).locator("a.cite").first.click()
    expect(page.locator("mark:target")).to_have_text("OL saved")
    page.keyboard.press("x")
    page.get_by_label("Why").fill("L5 saves other bytes")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda address: "/saves" not in address)
    assert [(one.mode, one.passed, one.approved) for one in reviews_of(kept, EVALUATION, "saves")] == [
        ("blind", False, None),
        ("seen", None, False),
    ]


def test_without_a_reason_nothing_is_sent_and_skipping_goes_on(looking: Looking, kept: Store) -> None:
    looking.page.request.put(f"{looking.base}/api/reviewer", data={"name": "Bea"}, headers={"x-adjudge": "1"})
    page = looking.open("/review/next?order=random")
    before = page.url
    page.locator(".choice input").first.check()
    page.get_by_label("Why").focus()
    page.keyboard.press("Control+Enter")
    assert page.url == before
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    page.wait_for_url("**skip=1*")


def test_what_the_server_refuses_is_said_at_the_form(looking: Looking) -> None:
    looking.page.request.put(f"{looking.base}/api/reviewer", data={"name": "Cid"}, headers={"x-adjudge": "1"})
    page = looking.open(f"/review/{EVALUATION}/clean")
    page.keyboard.press("1")
    page.get_by_label("Why").fill("...")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("a review needs a reason")


def test_a_question_is_sent_with_a_key_and_what_is_missing_is_said(looking: Looking, tmp_path: Path) -> None:
    page = looking.open("/ask?q=How+many%3F")
    page.get_by_label("Model that answers").fill("openai/gpt-6-sol")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("OPENAI_API_KEY")
