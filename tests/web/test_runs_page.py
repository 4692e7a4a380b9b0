"""The list of runs: what its field for the task offers, and what it says of a name that finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import msgspec
import pytest
from litestar.testing import TestClient

from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import make_run
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors

from .conftest import BASE, Client, text_of

NAMES = ("billing-12", 'quoted "<b>" name', "a\u202ebc", "esc\x1b[0m", "two\nlines", "n" * 301, "zero\u200bwidth")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with open_store(tmp_path_factory.mktemp("tasks") / "store") as store:
        for number, name in enumerate(NAMES):
            store.add_run(msgspec.structs.replace(make_run(task_name=name), id=f"r-{number}"))
        yield TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)


def test_a_task_is_offered_if_what_a_browser_sends_back_finds_it(client: Client) -> None:
    html = client.get("/runs").text
    offered = [unescape(name) for name in re.findall(r'<option value="([^"]*)">(?!.*</option>)', html)]
    assert offered == ["billing-12", 'quoted "<b>" name']
    for number, name in enumerate(offered):
        page = client.get("/runs", params={"task": name}).text
        assert re.findall(r'name="run" value="([^"]+)"', page) == [f"r-{number}"]


def test_a_part_of_a_tasks_name_finds_nothing_and_the_page_says_why(client: Client) -> None:
    words = text_of(client.get("/runs", params={"task": "billing"}).text)
    assert "A task is found by its whole name; the search finds parts of it." in words


def sorted_by(html: str) -> dict[str, tuple[str, str]]:
    """Of each heading that sorts: where it leads and how the list is sorted by it now."""
    heads = re.findall(r'<th scope="col"([^>]*)><a href="([^"]+)">([^<]+?)( [↑↓])?</a>', html)
    return {
        words: (unescape(href), (re.findall(r'aria-sort="(\w+)"', told) or ["none"])[0]) for told, href, words, _ in heads
    }


@pytest.mark.parametrize("name", ["Task", "Agent", "Model", "Outcome"])
def test_the_head_of_a_column_of_words_sorts_by_it_and_then_backwards(client: Client, name: str) -> None:
    href, now = sorted_by(client.get("/runs").text)[name]
    assert (href, now) == (f"/runs?sort={name.lower()}", "none")
    back, now = sorted_by(client.get(href).text)[name]
    assert (back, now) == (f"/runs?sort=-{name.lower()}", "ascending")
    assert sorted_by(client.get(back).text)[name] == (href, "descending")


def test_the_api_sorts_by_task_as_the_page_does(client: Client) -> None:
    html = client.get("/runs?sort=task").text
    listed = [run["id"] for run in client.get("/api/runs?sort=task").json()["runs"]]
    assert re.findall(r'name="run" value="([^"]+)"', html) == listed
    tasks = [NAMES[int(name.removeprefix("r-"))] for name in listed]
    assert tasks == sorted(NAMES, key=str.encode)
