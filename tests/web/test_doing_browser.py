"""In a real browser: a key is connected, a rubric written, a run built, started and opened."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.web import sample, sample_doing
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.errors import MachineError
from adjudge.machines.selftest import proven_view
from adjudge.settings import Settings
from adjudge.store.store import Store

from .test_browser import Looking

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with sample_doing.make(tmp_path_factory.mktemp("doing") / "store") as store:
        yield store


@pytest.fixture(scope="module")
def missing() -> str | None:
    """Why no agent can be started here, if none can."""
    try:
        asyncio.run(proven_view())
    except MachineError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def browser(store: Store, missing: str | None) -> Iterator[Browser]:
    """A browser. What needs an event loop comes first: Playwright then has the only one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def looking(browser: Browser, store: Store) -> Iterator[Looking]:
    with served(store, Settings(store=str(store.folder))) as door:
        looking = Looking(browser, door, viewport={"width": 1440, "height": 1000})
        yield looking
        looking.context.close()


def test_a_key_is_connected_and_disconnected_and_never_seen_again(looking: Looking, store: Store) -> None:
    key = "sk-or-v1-5e0b8a41d97c2f36"
    page = looking.open("/agents")
    page.once("dialog", lambda dialog: dialog.accept())
    box = page.locator(".providers .box", has_text="openrouter")
    box.get_by_label("Connect a key for openrouter").fill(key)
    box.get_by_role("button", name="Connect").click()
    expect(box.get_by_text("connected here")).to_be_visible()
    assert key not in page.content()
    assert key not in " ".join(looking.asked)
    box.get_by_role("button", name="Disconnect").click()
    expect(box.get_by_text("no key")).to_be_visible()
    assert store.folder is not None
    assert not (store.folder / "keys.json").exists()


def test_agents_and_checks_come_after_the_page(looking: Looking) -> None:
    page = looking.open("/agents")
    expect(page.locator("table.agents").get_by_text("looking")).to_have_count(0, timeout=60_000)
    expect(page.get_by_role("table", name="What works here")).to_be_visible(timeout=60_000)
    head, cell = page.locator(".t.agents thead th").last, page.locator(".t.agents tbody tr td").nth(4)
    assert head.bounding_box()["x"] == cell.bounding_box()["x"]  # type: ignore[index]  # both are visible


def test_a_rubric_is_checked_while_it_is_typed_and_kept_as_a_next_version(looking: Looking) -> None:
    page = looking.open(f"/rubrics/{sample.RUBRIC.hash}/edit")
    said = page.locator("#rubric-said")
    expect(said).to_contain_text(sample.RUBRIC.hash)
    text = page.get_by_label("The rubric, in YAML, TOML or JSON")
    good = text.input_value()
    text.fill("name: x\ncriteria:\n  - a: b\n")
    expect(said).to_contain_text("no rubric yet")
    said.get_by_role("button", name="line 3").click()
    assert text.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)") == "  - a: b"
    text.fill(good.replace("raises nothing", "raises no exception"))
    expect(said).to_contain_text("bugfix-evidence, 10 criteria")
    text.press("Control+Enter")
    page.wait_for_url(re.compile("/rubrics/[0-9a-f]{64}$"))
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    expect(page.locator(".diff .add").first).to_contain_text("raises no exception")


def test_what_is_wrong_stands_at_its_field_while_it_is_typed(looking: Looking) -> None:
    page = looking.open("/build")
    expect(page.locator("#build-happens")).to_contain_text("a sandbox")
    assert page.locator(".wrong:not(:empty)").count() == 0, "a form that nobody has touched is not wrong"
    page.get_by_label("Task", exact=True).fill("Make it.")
    page.locator("input[name=files][value=folder]").check()
    page.get_by_label("Folder", exact=True).fill("/no/such/folder")
    expect(page.locator("#wrong-folder")).to_contain_text("must be a path that exists")
    expect(page.locator("#wrong-agents")).to_contain_text("no agent is chosen")
    expect(page.locator("#build-open")).to_contain_text("folder")
    page.locator("input[name=agents][value=codex]").check()
    expect(page.locator("[data-wrong-of=codex]")).to_contain_text("name the agent's model")
    page.locator("[data-model-of=codex]").fill("ollama/a ollama/b")
    expect(page.locator("#build-happens")).to_contain_text("codex on ollama/b")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator("form .msg.fail")).to_contain_text("must be a path that exists")
    assert page.url.endswith("/build")


@pytest.mark.slow
def test_a_run_is_built_started_followed_and_opened(looking: Looking, missing: str | None) -> None:
    if missing:
        pytest.skip(missing)
    page = looking.open("/build")
    page.get_by_label("Task", exact=True).fill("Say hello.")
    page.locator("input[name=agents][value=command]").check()
    page.get_by_label("Command", exact=True).fill("echo hello from the agent")
    expect(page.locator("#build-task")).to_contain_text("Say hello.")
    page.get_by_role("button", name="Start the run").click()
    page.wait_for_url("**/live/job-*")
    expect(page.locator('.stands[data-state="done"]')).to_be_visible(timeout=90_000)
    expect(page.locator(".steps")).to_contain_text("command, attempt 1: working")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(page.get_by_text("No step yet")).to_be_hidden()
    page.get_by_role("link", name="See what came of it").click()
    page.wait_for_url("**/runs/r-*")
    expect(page.locator("body")).to_contain_text("hello from the agent")
