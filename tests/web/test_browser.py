"""In a real browser: from an imported run to the quoted words of a citation, and nothing hostile ever runs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright
from tests.web import sample
from tests.web.served import ARGUMENTS, CHROMIUM, Traffic, entered, served

from adjudge import wiring
from adjudge.record import Entry, Record, Turn
from adjudge.settings import Settings
from adjudge.store.store import Store, open_store
from adjudge.testing import calls, make_record, make_run, says, user

from .test_hostile import HOSTILE

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.xdist_group("browser"),
]


LONG = make_record(user("Do it."), *(calls("bash", f"sed -n {number}p list", f"line {number}") for number in range(150)))
"""A record that does not stand on its page whole."""


class Looking:
    """A window on a served store, with everything that it asked for and complained of."""

    def __init__(self, browser: Browser, door: str, **context: Any) -> None:
        self.base = door.partition("/enter")[0]
        self.context = browser.new_context(storage_state=entered(browser, door), **context)
        self.page: Page = self.context.new_page()
        self.traffic = Traffic(self.page)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))

    def _note(self, message: ConsoleMessage) -> None:
        """Pieces of pages, opened by themselves, have no icon, so that the browser looks for one."""
        place = message.location["url"]
        if not place.endswith("/favicon.ico"):
            self.complaints.append(f"{message.text} ({place})")

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        self.traffic.settle()
        return self.page


def hears(page: Page) -> Page:
    """The page, as soon as its script hears keys: one that a click led to may be seen before."""
    page.locator("html.js").wait_for(state="attached")
    return page


def in_view(page: Page, selector: str) -> bool:
    """Whether an element can be seen in the pane that scrolls it and in the window."""
    return bool(
        page.evaluate(
            """(selector) => {
                const box = document.querySelector(selector).getBoundingClientRect();
                const pane = document.querySelector(".scroll").getBoundingClientRect();
                const [top, bottom] = [Math.max(0, pane.top), Math.min(innerHeight, pane.bottom)];
                return box.height > 0 && box.top >= top && box.bottom <= bottom;
            }""",
            selector,
        )
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The bundled run, imported and judged by the recorded exchange, among the sample's runs."""
    settings = Settings(
        store=str(tmp_path_factory.mktemp("browser") / "store"), model=f"recorded/{wiring.DEMO / 'exchange.json'}"
    )
    run = wiring.find_run(str(wiring.DEMO), settings)
    judgment = asyncio.run(wiring.judge(run, wiring.find_rubric(str(wiring.DEMO / "rubric.yaml")), settings))
    assert judgment.status == "judged", judgment.reason
    with open_store(settings.store) as store:
        sample.fill(store)
        store.add_run(msgspec.structs.replace(make_run(LONG), id="r-long"))
        yield store


@pytest.fixture(scope="module")
def browser(store: Store) -> Iterator[Browser]:
    """A browser. The store comes first: making it needs an event loop, of which Playwright then has the only one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def looking(browser: Browser, store: Store) -> Iterator[Looking]:
    with served(store) as door:
        looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
        yield looking
        looking.context.close()


def test_from_the_list_to_the_quoted_words_of_a_citation(looking: Looking) -> None:
    page = looking.open("/runs?agent=opencode&outcome=ungraded")
    page.click("table.list a.main")
    page.wait_for_selector(".cards")
    cite = page.locator("#v2 a.cite").first
    quote = cite.locator("q").inner_text()
    cite.click()
    marked = page.locator("mark:target")
    marked.wait_for()
    assert " ".join(marked.inner_text().split()) == " ".join(quote.split())
    assert in_view(page, "mark:target")
    assert page.locator("#v2").evaluate("card => card.classList.contains('is-on')")


def test_the_runs_of_one_task_are_found_by_what_it_is_called(looking: Looking) -> None:
    page = looking.open("/runs?agent=claude-code")
    name = page.locator("#tasks option").first.get_attribute("value")
    assert name is not None
    page.get_by_label("Task", exact=True).fill(name)
    page.get_by_role("combobox", name="Agent").select_option("")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**task=*")
    found = page.locator("table.list a.main")
    assert set(found.all_inner_texts()) == {name}
    expect(page.locator(".chip.on")).to_have_text([f"task: {name} ×"])


def test_a_chip_on_the_exhibit_leads_back_to_the_card(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}#v2c1")
    page.locator(".entry.is-on .back a").first.click()
    page.wait_for_url("**#v2")
    assert page.locator("#v2").evaluate("card => card.classList.contains('is-on')")


def test_keys_walk_through_verdicts_and_their_citations(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}")
    page.keyboard.press("j")
    page.wait_for_url("**#v1c1")
    page.keyboard.press("j")
    page.wait_for_url("**#v2c1")
    page.keyboard.press("n")
    page.wait_for_url("**#v2c2")
    assert in_view(page, "mark:target")
    page.keyboard.press("f")
    assert page.locator(".card:visible").count() == 6
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 1


def test_a_look_opens_the_transcript_and_a_fold_that_hides_it(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}")
    page.locator("#v6 a.cite").nth(1).click()
    expect(page.locator("#looks")).to_be_visible()
    assert not page.locator("#record").is_visible()
    assert in_view(page, "mark:target")


def test_the_outline_opens_in_place_of_the_entries_and_leads_back(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}")
    page.get_by_role("link", name="Outline").click()
    page.wait_for_url("**outline=0*")
    page.get_by_role("link", name="Back to the record").click()
    page.wait_for_url(lambda url: "outline" not in url)
    expect(page.locator("#record .entry").first).to_be_visible()


def test_without_scripts_a_citation_still_opens_its_words(browser: Browser, store: Store) -> None:
    with served(store) as door:
        looking = Looking(browser, door, java_script_enabled=False, viewport={"width": 1440, "height": 900})
        page = looking.open(f"/runs/{sample.long_run().id}")
        page.locator("#v2 a.cite").nth(1).click()
        assert page.locator("mark:target").inner_text() == "OL saved 154 bytes"
        assert page.locator("mark:target").bounding_box() is not None
        looking.open(f"/runs/{sample.long_run().id}?at=e5#e5")
        assert page.locator("#e5").is_visible()
        assert page.get_by_role("button", name="Open calls").count() == 0
        looking.context.close()


def test_a_folded_call_opens_where_a_link_leads_into_it(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}")
    result = page.locator("#e5")
    assert not result.is_visible()
    page.evaluate("location.hash = 'e5'")
    expect(result).to_be_visible()
    expect(page.locator("#e7")).not_to_be_visible()


def test_a_key_opens_all_calls_also_those_that_are_loaded_later_and_folds_them_again(looking: Looking) -> None:
    page = looking.open("/runs/r-long")
    closed = page.locator("#record details.call:not([open])")
    expect(closed).not_to_have_count(0)
    page.keyboard.press("o")
    expect(closed).to_have_count(0)
    page = looking.open("/runs/r-long")  # the choice is kept
    expect(closed).to_have_count(0)
    assert page.locator("#e90").count() == 0
    read_down(page)
    expect(page.locator("#e90")).to_be_visible()
    expect(closed).to_have_count(0)
    page.get_by_role("button", name="Open calls").click()
    expect(page.locator("#record details.call[open]")).to_have_count(0)


def test_what_is_cited_stands_open_whatever_is_opened_or_folded(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}#v2c2")
    opened = page.locator("#record details.call[open]")
    before = opened.count()
    page.keyboard.press("o")
    page.keyboard.press("o")
    expect(opened).to_have_count(before)
    assert in_view(page, "mark:target")


def entries_there(page: Page) -> list[int]:
    """The numbers of the entries that stand on the page."""
    ids = page.locator("#record .entry").evaluate_all("entries => entries.map((entry) => entry.id)")
    return [int(name[1:]) for name in ids]


@pytest.mark.parametrize(
    ("place", "kept"),
    [("v2c1", "?judgment=j-00000000000000e1#v2c1"), ("d5", "?judgment=j-00000000000000d1#d5"), ("e40", "#e40")],
)
def test_the_link_that_a_key_copies_names_the_judgment_where_one_is_meant(place: str, kept: str, looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}#{place}")
    looking.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("y")
    expect(page.locator(".toast")).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == f"{looking.base}/runs/{sample.long_run().id}{kept}"


def test_a_key_leads_to_the_field_in_which_a_place_is_typed(looking: Looking) -> None:
    page = looking.open("/runs/r-long")
    page.keyboard.press("g")
    page.keyboard.type("e201")
    page.keyboard.press("Enter")
    page.wait_for_url("**at=e201#e201")
    expect(page.locator("#e201")).to_be_visible()


def read_down(page: Page) -> None:
    """Scroll to where the page has its first gap, until that is filled."""
    gap = page.locator("#record .gap").first
    start = gap.get_attribute("data-start")
    gap.evaluate("gap => gap.scrollIntoView({ block: 'end' })")
    expect(page.locator(f'#record .gap[data-start="{start}"]')).to_have_count(0)


PLACE = """(id) => {
    const unit = document.getElementById(id).closest(".turn > *");
    return unit.getBoundingClientRect().top - document.querySelector(".scroll").getBoundingClientRect().top;
}"""
"""How far an entry stands below the upper edge of its pane."""


def test_a_gap_fills_by_itself_where_one_reads_down_to_it(looking: Looking) -> None:
    page = looking.open("/runs/r-long")
    assert 130 not in entries_there(page)
    for _ in range(4):
        read_down(page)
    expect(page.locator("#record .gap")).to_have_count(0)
    assert entries_there(page) == list(range(1, 302))


def test_a_gap_that_is_reached_from_below_fills_from_its_end_and_nothing_jumps(looking: Looking) -> None:
    page = looking.open("/runs/r-long?at=e200")
    assert 180 not in entries_there(page)
    page.evaluate(
        """() => {
            const pane = document.querySelector(".scroll");
            const unit = document.getElementById("e190").closest(".turn > *");
            pane.scrollTop += unit.getBoundingClientRect().top - pane.getBoundingClientRect().top - 100;
        }"""
    )
    expect(page.locator("#e180")).to_be_attached()
    assert 100 not in entries_there(page)
    assert abs(page.evaluate(PLACE, "e190") - 100) < 2


def test_a_turn_that_goes_on_where_a_gap_was_is_one_turn(browser: Browser, tmp_path: Path) -> None:
    entries = [Entry("e1", "message", "user", 0, "Do it.")]
    entries += [Entry(f"e{number}", "message", "agent", 1, f"thought {number}") for number in range(2, 302)]
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(Record("made", tuple(entries), (Turn(1, "e2"),))), id="r-one"))
        with served(store) as door:
            looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
            page = looking.open("/runs/r-one")
            heads = page.locator("#record .turn h3")
            expect(heads).to_have_text(["Task", "Turn 1", "Turn 1, continued"])
            while page.locator("#record .gap").count():
                read_down(page)
            expect(heads).to_have_text(["Task", "Turn 1"])
            assert entries_there(page) == list(range(1, 302))
            looking.context.close()


def test_what_was_read_is_let_go_and_comes_back_where_one_reads_again(browser: Browser, tmp_path: Path) -> None:
    record = make_record(user("Do it."), *(calls("bash", f"sed -n {at}p list", f"line {at}") for at in range(1_000)))
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(record), id="r-far"))
        with served(store) as door:
            looking = Looking(browser, door, viewport={"width": 1440, "height": 900})
            page = looking.open("/runs/r-far")
            last = page.locator("#record .gap").last
            for _ in range(25):
                start = last.get_attribute("data-start")
                last.evaluate("gap => gap.scrollIntoView({ block: 'end' })")
                expect(page.locator(f'#record .gap[data-start="{start}"]')).to_have_count(0)
            there = entries_there(page)
            assert len(there) < 800
            assert {1, 3, 60} & set(there) == set()
            assert 1_400 in there
            gap = page.locator("#record .gap").first
            assert (gap.get_attribute("data-start"), gap.get_attribute("data-of")) == ("0", "")
            end, begins = int(gap.get_attribute("data-end") or 0), int(last.get_attribute("data-start") or 0)
            assert there == [*range(end + 1, begins + 1), *there[begins - end :]]  # all between the gaps, and the end
            assert str(gap.locator("a").get_attribute("href")).endswith("/runs/r-far?at=e1#e1")
            page.evaluate("document.querySelector('.scroll').scrollTop = 0")
            expect(page.locator("#e60")).to_be_attached()
            assert looking.complaints == []
            looking.context.close()


def test_what_was_opened_is_there_when_one_comes_back(looking: Looking) -> None:
    page = looking.open("/runs/r-long")
    read_down(page)
    read_down(page)
    page.wait_for_timeout(400)  # milliseconds, until the scrolling has settled
    at = page.evaluate("history.state.reading")
    assert at["id"] not in ids_at_first(looking)
    page.goto(f"{looking.base}/runs")
    page.go_back()
    expect(page.locator(f"#{at['id']}")).to_be_attached()
    page.wait_for_load_state("networkidle")
    assert abs(page.evaluate(PLACE, at["id"]) - at["offset"]) < 2


def ids_at_first(looking: Looking) -> list[str]:
    """The entries that the long record's page comes with."""
    html = looking.page.request.get(f"{looking.base}/runs/r-long").text()
    return re.findall(r'<article class="entry [^"]*" id="([^"]+)"', html)


def test_a_link_to_a_place_in_a_gap_opens_the_page_there(looking: Looking) -> None:
    page = looking.open("/runs/r-long#e201")
    page.wait_for_url("**at=e201#e201")
    expect(page.locator("#e201")).to_be_visible()


def test_a_browser_that_keeps_nothing_has_its_keys_all_the_same(looking: Looking) -> None:
    context = looking.context.browser.new_context(storage_state=looking.context.storage_state())  # type: ignore[union-attr]
    context.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })")
    page = context.new_page()
    page.goto(f"{looking.base}/runs/r-long")
    page.keyboard.press("o")
    expect(page.locator("#record details.call:not([open])")).to_have_count(0)
    context.close()


def test_folded_calls_are_printed_open(looking: Looking) -> None:
    page = looking.open(f"/runs/{sample.long_run().id}")
    assert not page.locator("#e5").is_visible()
    page.emulate_media(media="print")
    printed = page.locator("#e5").is_visible()
    page.emulate_media(media="screen")
    assert printed


def test_no_page_asks_for_anything_elsewhere_or_breaks_the_policy(looking: Looking) -> None:
    looking.asked.clear()
    looking.complaints.clear()
    for path in ("/runs", f"/runs/{sample.long_run().id}", f"/runs/{sample.long_run().id}?outline=0", "/runs?q=nothing"):
        looking.open(path)
    assert [url for url in looking.asked if not url.startswith(looking.base)] == []
    assert looking.complaints == []


def test_no_hostile_text_runs_leads_or_fetches(browser: Browser, tmp_path: Path) -> None:
    everything = "\n".join(HOSTILE)
    record = make_record(user(everything), says(everything), *(calls("bash", each, result=each) for each in HOSTILE))
    run = msgspec.structs.replace(make_run(record, task=everything, agent=HOSTILE[0]), patch=everything, context=everything)
    with open_store(tmp_path / "store") as store:
        store.add_run(run)
        with served(store) as door:
            looking = Looking(browser, door)
            for path in ("/runs", f"/runs/{run.id}", f"/runs/{run.id}?q=script", f"/runs/{run.id}/exhibits/e1"):
                page = looking.open(path)
                assert (
                    page.evaluate("document.querySelectorAll('img, iframe, base, style, [onerror], [onload]').length") == 0
                )
            assert looking.complaints == []
            assert [url for url in looking.asked if not url.startswith(looking.base)] == []
            looking.context.close()
