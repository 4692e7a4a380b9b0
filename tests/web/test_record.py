"""The record: opened anywhere at once, with gaps that fill, searched, and as an outline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import msgspec
import pytest
from litestar.testing import TestClient
from markupsafe import Markup

from adjudge.entries import EntryWriter
from adjudge.record import Entry, Record, Turn
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import make_run
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors
from adjudge.web.queries.kept import OpenRun
from adjudge.web.queries.windows import Window
from adjudge.web.views.entries import EntryView
from adjudge.web.views.record import Shown, leads_of_run
from adjudge.web.views.turns import CallView, TurnView, turns_of

from .conftest import BASE, RUN, Client, Page, text_of

ENTRIES = 3_000


def long_record() -> Record:
    """A record of turns of three entries each, the last of which holds a word of its own."""
    writer = EntryWriter()
    turns = []
    for number in range(1, ENTRIES + 1):
        turn, part = (number - 1) // 3 + 1, (number - 1) % 3
        if part == 0:
            turns.append(Turn(turn, f"e{number}"))
        kind, who = (("message", "agent"), ("call", "agent"), ("result", "tool"))[part]
        writer.add(Entry(f"e{number}", kind, who, turn, f"line {number} of the record", "bash" if part else None))  # type: ignore[arg-type]  # of the table
    writer.add(Entry(f"e{ENTRIES + 1}", "message", "agent", len(turns), "the needle"))
    helper = Record(
        "made", (Entry("s1.e1", "message", "agent", 1, "a helper speaks"),), (Turn(1, "s1.e1"),), label="helper"
    )
    return Record("made", writer.finish(), tuple(turns), children=(helper,))


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:  # type: ignore[type-arg]
    with open_store(tmp_path_factory.mktemp("long") / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(), id="r-long", record=long_record()))
        yield TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)


def ids(html: str) -> list[str]:
    """The ids of the entries on a page, in order."""
    return re.findall(r'<article class="entry [^"]*" id="([^"]+)"', html)


def test_a_long_record_of_which_nothing_is_cited_opens_at_its_start_with_a_gap_before_its_end(inside: Client) -> None:
    html = inside.get("/runs/r-long").text
    assert ids(html) == [f"e{number}" for number in (*range(1, 61), ENTRIES - 1, ENTRIES, ENTRIES + 1)]
    assert "Turns 21–1000, 2,938 entries, cited by nothing" in text_of(html)


def test_it_opens_around_any_entry(inside: Client) -> None:
    html = inside.get("/runs/r-long?at=e1500").text
    assert {"e1495", "e1500", "e1530"} <= set(ids(html))
    assert len(ids(html)) < 100


def test_it_opens_around_any_turn(inside: Client) -> None:
    html = inside.get("/runs/r-long?at=t700").text
    assert 'id="t700"' in html
    assert "e2098" in ids(html)


def test_a_place_that_is_not_there_opens_the_start(inside: Client) -> None:
    assert ids(inside.get("/runs/r-long?at=e99999999").text)[0] == "e1"


def folds(html: str) -> list[tuple[bool, str, list[str]]]:
    """The folded calls of a page: whether each stands open, its line, and the entries in it."""
    found = re.findall(r'<details class="call"( open)?><summary>(.*?)</summary>(.*?)\n</details>\n', html, re.DOTALL)
    return [(bool(opened), unescape(text_of(line)), ids(body)) for opened, line, body in found]


def test_a_call_whose_result_is_not_known_says_so(inside: Client) -> None:
    html = inside.get("/runs/r-long").text
    assert folds(html)[0] == (
        False,
        "e2 bash line 2 of the record no result here",
        ["e2"],
    )  # no result here says what it answers


def test_a_fold_stands_open_where_the_page_is_opened(inside: Client) -> None:
    opened = [entries for is_open, _, entries in folds(inside.get("/runs/r-long?at=e1502").text) if is_open]
    assert opened == [["e1502"]]


@pytest.mark.parametrize("path", [f"/runs/{RUN}", f"/runs/{RUN}/entries?start=80&end=124"])
def test_a_call_with_its_result_says_what_was_asked_and_how_it_ended(path: str, client: Client) -> None:
    by_call = {entries[0]: (is_open, line, entries) for is_open, line, entries in folds(client.get(path).text)}
    assert by_call["e104"] == (False, "e104 bash grep -rn 'backslash' src | sed -n '51,81p' exit 0 870 B", ["e104", "e105"])
    is_open, line, entries = by_call["e102"]
    assert (is_open, entries) == (True, ["e102", "e103"])  # it is cited
    assert line.endswith("40 B exit 1")


def test_what_was_said_between_a_call_and_its_result_keeps_its_place() -> None:
    entries = [
        Entry("e1", "call", "agent", 1, "rm", "bash", '{"command": "rm -r src"}'),
        Entry("e2", "message", "user", 1, "Stop!"),
        Entry("e3", "result", "tool", 1, "removed", "bash", answers="e1", exit_status=0),
    ]
    (turn,) = turns_of("r-1", Window("", 0, 3, 3, tuple(entries), (Turn(1, "e1"),)), {}, Markup)
    call, message, result = turn.parts
    assert isinstance(call, CallView)
    assert isinstance(message, EntryView)
    assert isinstance(result, CallView)
    assert (call.facts, message.id) == (("result at e3",), "e2")
    assert result.facts == ("of e1", "exit 0", "7 B")


def test_no_piece_of_a_record_ends_between_a_call_and_its_results(tmp_path: Path) -> None:
    """The page and all that fills its gap, with three calls at once in each turn."""
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(many_calls(turns=100)), id="r-many"))
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        html = client.get("/runs/r-many").text
        pieces = [html]
        while found := re.search(r'data-load="([^"]+)"', pieces[-1]):
            pieces.append(client.get(unescape(found[1])).text)
    assert len(pieces) > 4
    shown = [name for piece in pieces for name in ids(piece)]
    assert sorted(shown) == sorted({f"e{number}" for number in range(1, 701)})
    assert not [line for piece in pieces for _, line, _ in folds(piece) if "result here" in line or " of e" in line]
    assert all(len(entries) == 2 for piece in pieces for _, _, entries in folds(piece))


def many_calls(turns: int) -> Record:
    """A record of turns, in each of which three calls are made at once."""
    writer = EntryWriter()
    number = 0
    began = []
    for turn in range(1, turns + 1):
        began.append(Turn(turn, f"e{number + 1}"))
        writer.add(Entry(f"e{number + 1}", "message", "agent", turn, "Three at once."))
        for at in (2, 3, 4):
            writer.add(Entry(f"e{number + at}", "call", "agent", turn, f"read {at}", "read"))
        for at in (5, 6, 7):
            writer.add(Entry(f"e{number + at}", "result", "tool", turn, "read", "read", answers=f"e{number + at - 3}"))
        number += 7
    return Record("made", writer.finish(), tuple(began))


def test_a_folded_call_says_what_it_names_and_not_what_that_is_called() -> None:
    call = Entry("e1", "call", "agent", 1, "Read\nfile_path: /app/a.py\nlimit: 3", "Read", '{"file_path": "/app/a.py"}')
    (turn,) = turns_of("r-1", Window("", 0, 1, 1, (call,), (Turn(1, "e1"),)), {}, Markup)
    (view,) = turn.parts
    assert isinstance(view, CallView)
    assert (view.says, view.facts) == ("/app/a.py ⏎ limit: 3", ("no result here",))


def test_results_of_calls_made_at_once_stand_with_their_calls() -> None:
    entries = [
        Entry("e1", "message", "agent", 1, "Both at once."),
        Entry("e2", "call", "agent", 1, "one", "read"),
        Entry("e3", "call", "agent", 1, "two", "read"),
        Entry("e4", "result", "tool", 1, "of two", "read", answers="e3"),
        Entry("e5", "result", "tool", 1, "of one", "read", answers="e2", is_error=True),
        Entry("e6", "result", "tool", 1, "of what came before", "bash", answers="e0"),
    ]
    window = Window("", 0, 6, 6, tuple(entries), (Turn(1, "e1"),))
    (turn,) = turns_of("r-1", window, {}, Markup)
    message, one, two, lone = turn.parts
    assert isinstance(message, EntryView)
    calls = [each for each in (one, two, lone) if isinstance(each, CallView)]
    assert [(each.says, each.failures, [entry.id for entry in each.entries]) for each in calls] == [
        ("one", ("error",), ["e2", "e5"]),
        ("two", (), ["e3", "e4"]),
        ("of what came before", (), ["e6"]),
    ]


@pytest.mark.parametrize("page", ["/runs/{run}", "/runs/{run}/entries?start=80&end=83"])
def test_an_entrys_own_link_says_where_to_open_and_keeps_the_judgment(page: str, client: Client) -> None:
    asked = page.format(run=RUN)
    html = client.get(f"{asked}{'&' if '?' in asked else '?'}judgment=j-00000000000000e1").text
    assert f'<a href="/runs/{RUN}?at=e82&amp;judgment=j-00000000000000e1#e82"' in html


def test_an_entrys_own_link_keeps_the_sitting_of_a_reviewer(client: Client) -> None:
    html = client.get("/review/j-00000000000000e1/as-written/entries?start=80&end=83&order=random").text
    link = next(each for each in re.findall(r'class="eid"><a href="([^"]+)"', html) if each.endswith("#e82"))
    assert link.startswith("/review/j-00000000000000e1/as-written?")
    assert {"at=e82", "order=random"} <= set(link.partition("#")[0].partition("?")[2].split("&amp;"))


_GAP = r'<p class="gap" data-load="([^"]+)"'


def test_a_gap_fills_step_by_step_until_nothing_is_left(inside: Client) -> None:
    html = inside.get("/runs/r-long").text
    walked: list[str] = []
    address = re.search(_GAP, html)
    for _ in range(60):
        if address is None:
            break
        piece = inside.get(address[1].replace("&amp;", "&")).text
        walked += ids(piece)
        address = re.search(_GAP, piece)
    first = int(walked[0][1:])
    assert walked == [f"e{number}" for number in range(first, first + len(walked))]
    assert sorted([*ids(html), *walked], key=lambda name: (name.startswith("s"), int(name.rpartition("e")[2])))[:3001] == [
        f"e{number}" for number in range(1, ENTRIES + 2)
    ]


@pytest.mark.parametrize(
    ("near", "found", "left"),
    [
        ("", range(201, 261), [(260, 800)]),
        ("799", range(741, 801), [(200, 740)]),
        ("500", range(471, 531), [(200, 470), (530, 800)]),
    ],
)
def test_a_gap_fills_from_either_end_or_around_a_place(
    near: str, found: range, left: list[tuple[int, int]], tmp_path: Path
) -> None:
    entries = tuple(Entry(f"e{number}", "message", "agent", 1, "so") for number in range(1, 1_001))
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(Record("made", entries, (Turn(1, "e1"),))), id="r-even"))
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        html = client.get(f"/runs/r-even/entries?start=200&end=800{near and '&near=' + near}").text
    assert ids(html) == [f"e{number}" for number in found]
    gaps = re.findall(r'data-start="(\d+)" data-end="(\d+)"', html)
    assert [(int(start), int(end)) for start, end in gaps] == left


def test_a_piece_outside_of_the_record_is_empty_and_one_of_nobody_is_missing(inside: Client) -> None:
    assert ids(inside.get("/runs/r-long/entries?start=9000&end=9100&near=9050").text) == []
    assert inside.get("/runs/r-long/entries?start=0&end=9&of=s9").status_code == 404


def test_a_turn_that_no_window_holds_has_one_heading() -> None:
    record = Record(
        "made", tuple(Entry(f"e{n}", "message", "agent", 1, "x" * 900_000) for n in range(1, 6)), (Turn(1, "e1"),)
    )
    opened = OpenRun(msgspec.structs.replace(make_run(), record=record))
    (section,) = Shown(opened, {}, leads_of_run("r-1", None)).view(None).sections
    (turn,) = section.items
    assert isinstance(turn, TurnView)
    assert (turn.title, turn.anchor, len(turn.parts)) == ("Turn 1", "t1", 5)


def test_a_sub_agents_record_has_its_own_place(inside: Client) -> None:
    assert "Sub-agent s1: helper, 1 entry" in text_of(inside.get("/runs/r-long").text)
    assert "a helper speaks" in inside.get("/runs/r-long?at=s1.e1").text
    told = inside.get("/api/runs/r-long").json()["sub_agents"]
    assert told == [{"name": "s1", "label": "helper", "turns": 1, "entries": 1}]


@pytest.mark.parametrize(
    ("asked", "leads"),
    [("12", "?at=t12#t12"), ("t12", "?at=t12#t12"), (" e340 ", "?at=e340#e340"), ("s1.e1", "?at=s1.e1#s1.e1")],
)
def test_a_place_that_is_typed_is_gone_to(asked: str, leads: str, inside: Client) -> None:
    answer = inside.get("/runs/r-long", params={"go": asked}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (302, f"/runs/r-long{leads}")


def test_a_look_that_is_typed_is_gone_to_in_its_judgment(client: Client) -> None:
    answer = client.get(f"/runs/{RUN}?go=L4", follow_redirects=False)
    assert answer.headers["location"] == f"/runs/{RUN}?judgment=j-00000000000000e1#L4"


@pytest.mark.parametrize(("asked", "nearest"), [("go=t9999", "t1000"), ("at=e0", "e1"), ("go=s1.t7", "s1.t1")])
def test_of_a_place_that_is_not_there_the_nearest_is_offered(asked: str, nearest: str, inside: Client) -> None:
    html = inside.get(f"/runs/r-long?{asked}").text
    assert f"There is no turn, entry or look “{asked.partition('=')[2]}” in this run." in html
    assert f'<a href="/runs/r-long?at={nearest}#{nearest}">Nearest: {nearest}</a>' in html


@pytest.mark.parametrize("asked", ["L9", "s9.e3", "nonsense", "²"])
def test_of_what_names_nothing_nothing_is_offered(asked: str, inside: Client) -> None:
    html = inside.get("/runs/r-long", params={"go": asked}).text
    assert "There is no turn, entry or look" in html
    assert "Nearest" not in html


def test_words_are_found_wherever_they_stand(inside: Client) -> None:
    html = inside.get("/runs/r-long?q=NEEDLE").text
    assert "1 entry with “NEEDLE”" in html
    assert f'href="/runs/r-long?at=e{ENTRIES + 1}#e{ENTRIES + 1}"' in html
    assert "<b>needle</b>" in html


def test_a_search_stops_after_fifty_and_can_be_gone_on_with(inside: Client) -> None:
    html = inside.get("/runs/r-long?kind=call").text
    assert html.count('<span class="what">call bash</span>') == 50
    more = re.search(r'href="(/runs/r-long\?kind=call[^"]*after=(e\d+)[^"]*)"', html)
    assert more is not None
    assert 'at=e152#e152"' in inside.get(more[1].replace("&amp;", "&")).text


def test_the_outline_has_a_line_for_each_turn_page_by_page(inside: Client) -> None:
    html = inside.get("/runs/r-long?outline=0").text
    assert "line 1 of the record" in html
    assert 'outline=200"' in html.replace("#record", "")
    assert 'href="/runs/r-long?at=t201#t201"' in inside.get("/runs/r-long?outline=200").text


def test_the_outline_of_a_long_record_marks_the_turns_with_edits(tmp_path: Path) -> None:
    writer, turns = EntryWriter(), []
    for number in range(1, 4_001):
        turns.append(Turn(number, f"e{number}"))
        command = "sed -i s/a/b/ a.py" if number % 1_000 == 0 else "cat a.py"
        writer.add(Entry(f"e{number}", "call", "agent", number, command, "bash", f'{{"command": "{command}"}}'))
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(Record("made", writer.finish(), tuple(turns))), id="r-edits"))
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        outline = client.get("/api/runs/r-edits/outline?after=1900").json()
        html = client.get("/runs/r-edits?outline=1900").text
    assert [turn["number"] for turn in outline["turns"] if turn["edits"]] == [2_000]
    assert (outline["next"], html.count('<span class="tag warn">edit</span>')) == (2_100, 1)


def test_a_sub_agent_has_an_outline_that_leads_into_its_record(inside: Client) -> None:
    assert 'href="/runs/r-long?outline=0&amp;of=s1#record"' in inside.get("/runs/r-long").text
    html = inside.get("/runs/r-long?outline=0&of=s1").text
    assert "a helper speaks" in html
    assert "line 1 of the record" not in html
    assert 'href="/runs/r-long?at=s1.t1#s1.t1"' in html
    assert '<a href="/runs/r-long?outline=0&amp;of=s1#record" aria-current="true">s1: helper</a>' in html


def test_the_api_has_the_outline_of_a_sub_agent(inside: Client) -> None:
    assert [turn["first"] for turn in inside.get("/api/runs/r-long/outline?of=s1").json()["turns"]] == ["s1.e1"]
    answer = inside.get("/api/runs/r-long/outline?of=s9")
    assert (answer.status_code, "there is no sub-agent 's9'" in answer.text) == (404, True)


def test_an_entry_has_a_page_of_its_own(page: Page) -> None:
    html = page(f"/runs/{RUN}/exhibits/e42")
    assert "only what stands here" not in html
    assert "never bytes" in html


def test_a_very_long_entry_is_shown_in_parts(tmp_path: Path) -> None:
    text = "".join(f"row {number}\n" for number in range(60_000))
    record = Record("made", (Entry("e1", "result", "tool", 1, text),), (Turn(1, "e1"),))
    with open_store(tmp_path / "store") as store:
        store.add_run(msgspec.structs.replace(make_run(), id="r-wide", record=record))
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        page = client.get("/runs/r-wide").text
        assert len(page) < 60_000
        assert "characters left out" in page
        first = client.get("/runs/r-wide/exhibits/e1").text
        assert "part 1 of 3" in first
        last = client.get("/runs/r-wide/exhibits/e1?start=400000").text
        assert "row 59999" in last
