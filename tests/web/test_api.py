"""The JSON API: what the pages show, as data, from the same queries."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import RUN, Client, Page, text_of


def get(client: Client, path: str, **query: object) -> Any:
    answer = client.get(path, params={name: str(value) for name, value in query.items()})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_and_its_page_count_the_same(client: Client, page: Page) -> None:
    counts = get(client, "/api/runs")["counts"]
    assert (
        counts["found"] == counts["judged"] + counts["errored"] + counts["unjudged"] + counts["empty"] + counts["under_way"]
    )
    assert f"{counts['found']} of {counts['runs']} runs: {counts['judged']} judged" in text_of(page("/runs"))


def test_pages_of_the_list_follow_each_other(client: Client) -> None:
    first = get(client, "/api/runs", most=5, sort="cost")
    second = get(client, "/api/runs", most=5, sort="cost", after=first["next"])
    names = [run["id"] for part in (first, second) for run in part["runs"]]
    assert names == [run["id"] for run in get(client, "/api/runs", sort="cost")["runs"]]
    assert second["next"] is None


def test_a_run_has_its_facts_and_judgments_and_no_entries(client: Client) -> None:
    run = get(client, f"/api/runs/{RUN}")
    assert (run["turns"], run["entries"], run["cost"]) == (60, 122, 0.0888)
    assert [row["id"] for row in run["judgments"]] == ["j-00000000000000d1", "j-00000000000000e1"]


def test_entries_are_given_around_one_or_from_a_position_on(client: Client) -> None:
    around = get(client, f"/api/runs/{RUN}/entries", at="e60", most=8)
    assert [entry["id"] for entry in around["entries"]] == [f"e{number}" for number in range(58, 66)]
    from_start = get(client, f"/api/runs/{RUN}/entries", start=0, most=2)
    assert [entry["id"] for entry in from_start["entries"]] == ["e1", "e2"]
    assert from_start["total"] == 122


def test_a_search_gives_ids_and_lines(client: Client) -> None:
    hits = get(client, f"/api/runs/{RUN}/search", q="no module", kind="result")["hits"]
    assert [(hit["id"], hit["exit_status"]) for hit in hits] == [("e103", 1)]


def test_the_outline_has_a_line_for_each_turn(client: Client) -> None:
    turns = get(client, f"/api/runs/{RUN}/outline")["turns"]
    assert len(turns) == 60
    assert turns[39]["tools"] == ["Edit"]
    assert turns[49]["failed"] is True


def test_the_map_has_what_each_turn_consumed_and_where_files_were_edited(client: Client) -> None:
    told = get(client, f"/api/runs/{RUN}/map")
    assert [column["first"] for column in told["columns"]] == list(range(1, 61))
    assert told["priced"] is True
    # Turn n cost 0.0006 + 0.00002 n dollars.
    assert sum(column["spent"] for column in told["columns"]) == pytest.approx(60 * 0.0006 + 0.00002 * 60 * 61 / 2)
    turns = get(client, f"/api/runs/{RUN}/outline")["turns"]
    edited = [number for number, each in enumerate(turns, 1) if "Edit" in each["tools"]]
    assert told["edits"] == edited
    assert 40 in edited


def test_a_run_says_where_its_workspace_is_and_what_was_not_read(client: Client) -> None:
    run = get(client, f"/api/runs/{RUN}")
    assert (run["workspace"], run["machine"], run["unparsed"], run["not_read"]) == (None, None, 0, [])


def test_what_a_run_can_be_built_from_is_what_its_page_offers(client: Client, page: Page) -> None:
    told, html = get(client, "/api/build"), page("/build")
    assert {each["name"] for each in told["agents"]} >= {"codex", "opencode"}
    assert [each["hash"] for each in told["rubrics"] if each["hash"] not in html] == []
    assert (told["open"], told["looks"]) == (True, 40)


def test_a_judgment_is_given_whole(client: Client) -> None:
    judgment = get(client, "/api/judgments/j-00000000000000e1")
    assert judgment["verdicts"][6]["answer"]["passed"] is True
    assert get(client, f"/api/rubrics/{judgment['rubric_hash']}")["name"] == "bugfix-evidence"


@pytest.mark.parametrize(
    "path",
    ["/api/runs/r-none", "/api/judgments/j-none", "/api/rubrics/none", f"/api/runs/{RUN}/entries?at=e9999", "/api/none"],
)
def test_what_is_not_there_is_a_404_in_json(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["status"] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs?most=0",
        "/api/runs?most=9999",
        "/api/runs?sort=none",
        "/api/runs?outcome=maybe",
        f"/api/runs/{RUN}/entries?start=-1",
    ],
)
def test_a_value_of_the_wrong_kind_is_a_400_without_a_trace(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400
    assert set(answer.json()) == {"status", "detail"}


def test_the_document_describes_every_route_of_the_api(client: Client) -> None:
    paths = get(client, "/api/schema/openapi.json")["paths"]
    assert {path for path in paths if not path.startswith("/api/")} == set()
    assert {"/api/runs", "/api/runs/{run}", "/api/runs/{run}/entries", "/api/judgments/{judgment}"} <= set(paths)
    assert all(operation.get("operationId") for path in paths.values() for operation in path.values())


def test_the_reference_names_every_route_and_no_other(client: Client) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text()
    named = {
        (method or "GET", path) for method, path in re.findall(r"^\| `(?:(POST|PUT|DELETE) )?(/api/[^` ]+)`", page, re.M)
    }
    paths = get(client, "/api/schema/openapi.json")["paths"]
    assert named == {(method.upper(), path) for path, operations in paths.items() for method in operations}


def test_the_document_says_what_each_route_is_for(client: Client) -> None:
    paths = get(client, "/api/schema/openapi.json")["paths"]
    silent = [path for path, operations in paths.items() for each in operations.values() if not each.get("description")]
    assert silent == []
