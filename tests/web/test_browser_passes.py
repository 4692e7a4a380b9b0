"""In a real browser: runs are selected and judged, a pass is planned, started, watched and stopped, as a person does it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.cli.conftest import serve
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.settings import BASE_URLS, KEYS, Settings
from adjudge.store.rubrics import keep_rubric
from adjudge.store.store import Store, open_store
from adjudge.testing import decision, verdict

from .test_browser import Looking
from .test_doing_browser import missing
from .test_judging import OPEN, RUBRIC, Serve, a_run, looking

__all__ = ["missing", "serve"]

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def browser(missing: str | None) -> Iterator[Browser]:
    """A browser. What needs an event loop comes first: Playwright then has the only one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with two runs and a rubric."""
    for name in (*KEYS, *BASE_URLS, "ADJUDGE_MODEL", "ADJUDGE_STORE", "ADJUDGE_BLOBS"):
        monkeypatch.delenv(name, raising=False)
    with open_store(tmp_path / "store") as store:
        for number in (1, 2):
            store.add_run(a_run(number))
        keep_rubric(store, RUBRIC)
        yield store


def begun_at(seen: Looking, address: str, **values: Any) -> str:
    """Where that is shown which this begins."""
    answer = seen.context.request.post(f"{seen.base}/api{address}", data=values, headers={"x-adjudge": "1"})
    assert answer.ok, answer.text()
    return f"{seen.base}{answer.json()['href']}"


def test_selected_runs_are_judged_and_each_look_appears(browser: Browser, own: Store, serve: Serve) -> None:
    settings = Settings(store=str(own.folder), model=serve(looking(OPEN)))
    with served(own, settings) as door:
        seen = Looking(browser, door)
        page = seen.open("/runs")
        for box in page.locator("table.list input").all():
            box.check()
        page.get_by_role("button", name="Judge").click()
        page.wait_for_url("**/judge?run=*")
        page.locator(f'input[value="{RUBRIC.hash}"]').check()
        page.get_by_role("button", name="Judge").click()
        page.wait_for_url("**/live/*")
        expect(page.locator(".stands")).to_contain_text("done", timeout=30_000)
        expect(page.locator(".steps > li")).to_have_count(11)
        look = page.locator(".steps > li", has_text="open_entry").first
        look.locator("summary").click()
        expect(look.locator("pre")).to_contain_text("3 passed")
        page.get_by_role("link", name="See what came of it").click()
        page.wait_for_url("**/runs")
        assert seen.complaints == []
        seen.context.close()


def test_what_a_pass_looks_at_is_seen_as_it_goes_on(browser: Browser, own: Store, serve: Serve) -> None:
    may, answer = threading.Event(), looking(OPEN)

    def held(body: dict[str, Any]) -> Any:
        looked = any(message["role"] == "assistant" for message in body["messages"])
        assert not looked or may.wait(60)
        return answer(body)

    settings = Settings(store=str(own.folder), model=serve(held))
    with served(own, settings) as door:
        seen = Looking(browser, door)
        page = seen.page
        plan = seen.context.request.get(f"{seen.base}/api/passes/plan?rubric={RUBRIC.hash}").json()
        page.goto(begun_at(seen, "/passes", plan=plan["fingerprint"], rubric=RUBRIC.hash))
        try:
            lines = page.locator(".judging > li")
            expect(lines).to_have_count(2, timeout=30_000)
            expect(lines.first).to_contain_text("Look 1 of at most 40: open_entry")
            lines.first.get_by_role("button", name="Follow").click()
            page.wait_for_url("**/live/*")
            look = page.locator(".steps > li", has_text="open_entry")
            look.locator("summary").click()
            expect(look.locator("pre")).to_contain_text("3 passed")
            expect(page.locator(".stands")).to_contain_text("under way")
            page.go_back()
            expect(lines).to_have_count(2)
        finally:
            may.set()
        expect(page.locator(".now")).to_contain_text("2 of 2 runs done.", timeout=60_000)
        expect(page.locator(".now")).to_contain_text("finished", timeout=60_000)
        expect(lines).to_have_count(0)
        assert seen.complaints == []
        seen.context.close()


@pytest.mark.slow
def test_a_look_at_what_an_agent_left_is_seen_while_it_is_judged(
    browser: Browser, own: Store, serve: Serve, missing: str | None
) -> None:
    if missing:
        pytest.skip(missing)
    may = threading.Event()

    def held(body: dict[str, Any]) -> Any:
        if len(body["messages"]) == 2:
            return [("read_file", {"path": "made.txt"})]
        assert may.wait(60)
        return [("decide", decision(verdict("c1", True, ("L1", "made"))))]

    settings = Settings(store=str(own.folder), model=serve(held))
    with served(own, settings) as door:
        seen = Looking(browser, door)
        page = seen.page
        task = {"instructions": "Make made.txt.", "agents": [{"agent": "command"}]}
        page.goto(begun_at(seen, "/build", **task, command="sh -c 'echo made > made.txt'", rubric=RUBRIC.hash))
        try:
            look = page.locator(".steps > li", has_text="Look 1 of at most 40: read_file")
            expect(look).to_contain_text("made", timeout=60_000)
            expect(page.locator(".stands")).to_contain_text("under way")
        finally:
            may.set()
        expect(page.locator(".stands")).to_contain_text("done", timeout=60_000)
        assert seen.complaints == []
        seen.context.close()


def test_a_pass_is_planned_started_watched_stopped_and_resumed(browser: Browser, own: Store, serve: Serve) -> None:
    may, answer = threading.Event(), looking(OPEN)

    def held(body: dict[str, Any]) -> Any:
        assert may.wait(60)
        return answer(body)

    settings = Settings(store=str(own.folder), model=serve(held))
    with served(own, settings) as door:
        seen = Looking(browser, door)
        page = seen.open("/passes")
        page.get_by_role("link", name="Plan a pass").first.click()
        page.locator(f'input[value="{RUBRIC.hash}"]').check()
        page.get_by_role("button", name="Show the plan").click()
        page.wait_for_url("**rubric=*")
        expect(page.locator("#plan")).to_contain_text("2")
        page.get_by_label("At a time").fill("1")
        page.get_by_role("button", name="Judge 2 runs").click()
        page.wait_for_url("**/passes/p-*", timeout=60_000)
        try:
            expect(page.locator(".now")).to_contain_text("running")
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_role("button", name="End at once")).to_be_visible()
        finally:
            may.set()
        expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=60_000)  # without a reload
        expect(page.locator(".now")).to_contain_text("1 of 2 runs done: it was asked to stop.")
        page.get_by_role("button", name="Resume").click()
        expect(page.locator(".now")).to_contain_text("2 of 2 runs done.", timeout=60_000)
        expect(page.locator(".now")).to_contain_text("finished", timeout=60_000)
        assert seen.complaints == []
        seen.context.close()
