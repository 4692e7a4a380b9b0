"""Rubrics: what is kept, what is written, and which judgments used which."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.web import sample, sample_doing

from adjudge.judges.reader.own import own_rubric
from adjudge.rubric.writing import rubric_text
from adjudge.store.store import Store

from .conftest import Client, text_of
from .doing import guard_of, inside, page, said
from .test_hostile import HOSTILE, TAGS, Seen


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with sample_doing.make(tmp_path / "store") as store:
        yield store


@pytest.fixture
def client(kept: Store) -> Client:
    return inside(guard_of(kept))


def test_the_list_has_a_line_for_a_name_with_its_earlier_versions_and_its_judgments(client: Client) -> None:
    html = page(client, "/rubrics")
    assert "3 rubrics in 4 versions; 2 used by judgments." in html
    (row,) = [row for row in html.split("<tr>") if ">bugfix-evidence<" in row]
    assert sample_doing.NEXT.hash[:12] in row
    assert sample.RUBRIC.hash[:12] in row
    assert ">7</td>" in row
    assert html.count(own_rubric().hash[:12]) == 2, "what comes with adjudge is listed as well, in its link and its cell"


def test_a_version_shows_what_is_new_against_the_one_before(client: Client) -> None:
    html = page(client, f"/rubrics/{sample_doing.NEXT.hash}")
    changed = text_of(html.split('class="box diff"')[1].split("</section>")[0])
    assert "-- id: as-written" in changed
    assert "+- id: well" in changed
    assert "clean" in changed
    assert "two people could look at the same thing and disagree" in html


def test_a_version_leads_to_the_judgments_that_used_it(client: Client, kept: Store) -> None:
    html = page(client, f"/rubrics/{sample.RUBRIC.hash}")
    rows = [row for row in kept.judgments() if row.rubric_hash == sample.RUBRIC.hash]
    assert all(f"/runs/{row.run}?judgment={row.id}" in html for row in rows)
    assert "What changed" not in html, "nothing was kept before it"


def test_one_that_comes_with_adjudge_can_be_read_and_started_from(client: Client) -> None:
    own = own_rubric()
    assert "it comes with adjudge" in page(client, f"/rubrics/{own.hash}")
    editing = page(client, f"/rubrics/{own.hash}/edit")
    assert "id: contamination" in editing
    assert client.get(f"/api/rubrics/{own.hash}").json()["hash"] == own.hash


def test_what_is_typed_is_checked_and_nothing_is_kept(client: Client, kept: Store) -> None:
    before = len(client.get("/api/rubrics").json()["kept"])
    status, found = said(client, "/api/rubrics/check", text="criteria:\n  - ok: 1\n")
    assert (status, found["fault"]["line"]) == (200, 2)
    assert 'rubric.yaml: criteria[0]: "ok" is not known here' in found["fault"]["words"]
    status, found = said(client, "/api/rubrics/check", text="name: x\ncriteria:\n  - It works properly.\n")
    assert (status, found["fault"], found["name"], found["criteria"]) == (200, None, "x", 1)
    assert (found["remarks"][0]["item"], found["remarks"][0]["line"]) == ("c1", 3)
    _, found = said(client, "/api/rubrics/check", text=rubric_text(sample.RUBRIC))
    assert (found["hash"], found["known"]) == (sample.RUBRIC.hash, "bugfix-evidence")
    assert len(client.get("/api/rubrics").json()["kept"]) == before


def test_a_version_is_kept_as_another_row_and_the_earlier_stays(client: Client, kept: Store) -> None:
    text = rubric_text(sample.RUBRIC).replace("exits 0", "exits with 0")
    status, found = said(client, "/api/rubrics", text=text)
    assert status == 200
    assert found["href"] == f"/rubrics/{found['hash']}"
    assert found["hash"] != sample.RUBRIC.hash
    assert kept.rubric(sample.RUBRIC.hash) == sample.RUBRIC
    assert "exits with 0" in kept.rubric(found["hash"]).criteria[3].text
    assert said(client, "/api/rubrics", text=text) == (200, found), "keeping it again changes nothing"


def test_the_same_content_is_not_kept_under_another_name(client: Client) -> None:
    text = rubric_text(sample.RUBRIC).replace("name: bugfix-evidence", "name: other")
    status, found = said(client, "/api/rubrics", text=text)
    assert status == 400
    assert "'bugfix-evidence'" in found["detail"]


@pytest.mark.parametrize("text", ["", "[" * 10_000, "a: &x [*x]", "!!python/object:os.system x", "\x00", "criteria: 3"])
def test_what_is_no_rubric_is_refused_with_a_sentence(client: Client, text: str) -> None:
    status, found = said(client, "/api/rubrics", text=text)
    assert status == 400
    assert found["detail"].startswith("rubric.yaml")
    assert said(client, "/api/rubrics/check", text=text)[1]["fault"]["words"] == found["detail"]


def test_a_text_that_is_far_too_long_or_another_field_is_refused(client: Client) -> None:
    assert said(client, "/api/rubrics/check", text="x" * 200_001)[0] == 400
    assert said(client, "/api/rubrics", text="- a", name="b")[0] == 400


def test_nothing_hostile_in_a_rubric_becomes_part_of_a_page(client: Client) -> None:
    quoted = [msgspec.json.encode(payload).decode() for payload in HOSTILE]
    for number, words in enumerate(quoted):
        text = f"name: {msgspec.json.encode('r ' + HOSTILE[number].splitlines()[0][:60]).decode()}\ncriteria:\n"
        text += f"  - text: {words}\n    probe: {{run: {words}, stdout: {words}}}\n  - text: 'It is x.'\n"
        status, found = said(client, "/api/rubrics", text=text)
        assert status == 200, found
        for address in ("/rubrics", found["href"], f"{found['href']}/edit"):
            html = page(client, address)
            seen = Seen()
            seen.feed(html)
            assert seen.tags <= TAGS | {"ol", "aside", "textarea"}, (address, seen.tags - TAGS)
            assert seen.handlers == []
            assert seen.inside_script == ""
            assert [lead for lead in seen.leads if not lead.startswith(("/", "#", "?"))] == []
