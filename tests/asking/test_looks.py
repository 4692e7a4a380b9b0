"""What each tool shows of a store, counted by hand, and that no look is longer than a page or takes for ever."""

from __future__ import annotations

from typing import Any

import pytest
import zstandard

from adjudge.asking.asking import ask
from adjudge.asking.lines import PAGE
from adjudge.asking.looks import Looker
from adjudge.asking.seen import Seen
from adjudge.asking.source import Source
from adjudge.asking.tools import TOOLS, look_tools
from adjudge.asking.values import Look
from adjudge.ports import ToolCall
from adjudge.store.store import Store
from adjudge.testing import ScriptedModel, calls, looks, make_record, make_run, says, user

from .conftest import BAD, GOOD, JUDGMENTS, OTHER


async def see(store: Store, tool: str, gone: Any = False, **arguments: Any) -> Look:
    """What a tool shows that is called with these arguments."""
    looker = Looker(Source(store, True, lambda: gone), Seen(store))
    call = looks((tool, arguments))[0]
    (look,) = await looker.look([looker.asked(ToolCall(call.id, call.name, call.arguments))])
    return look


def line_with(look: Look, words: str) -> str:
    (line,) = [line for line in look.text.split("\n") if words in line]
    return line


async def test_runs_are_listed_with_what_is_known_of_them(store: Store) -> None:
    look = await see(store, "list_runs")
    assert look.facts == ("runs: 3",)
    assert line_with(look, GOOD.id) == (
        f"{GOOD.id} · agent “codex” · model “m-1” · outcome resolved · 2 turns · 4 entries · 1 judgment · 60.0 s"
        " · cost $0.2500 · task “Mend module 1.”"
    )
    assert set(look.shows) == {GOOD.id, BAD.id, OTHER.id}


async def test_runs_are_filtered(store: Store) -> None:
    look = await see(store, "list_runs", agent="codex", outcome="unresolved")
    assert (look.facts[0], set(look.shows)) == ("runs: 1", {BAD.id})
    assert 'agent "codex", outcome "unresolved"' in look.facts[1]


async def test_a_share_is_of_those_that_agree_in_all_but_the_last_property(store: Store) -> None:
    look = await see(store, "count_runs", by=["agent", "outcome"])
    assert look.facts == ("runs: 3", "groups: 3")
    assert "unresolved · 1 of 2 runs (50.0 %)" in line_with(look, "unresolved")
    assert "outcome resolved · 1 of 1 run (100.0 %)" in line_with(look, "gemini")


async def test_costs_are_summed_as_far_as_they_are_known(store: Store) -> None:
    look = await see(store, "count_runs", by=["agent"])
    assert "cost $1.0000 in all, known of 2 · mean of 45.0 s, known of 2" in line_with(look, "codex")
    assert "cost not known · time not known" in line_with(look, "gemini")


async def test_endings_are_the_agents_last_words_or_what_else_stands_there(store: Store) -> None:
    cut = make_run(make_record(user("Go."), calls("bash", "ls", result="a.txt")), agent="pi")
    store.add_run(cut)
    look = await see(store, "list_endings")
    assert "the agent's final message is e4: “All tests pass.”" in line_with(look, GOOD.id)
    assert "no final message; the record ends with e3, result of tool: “a.txt”" in line_with(look, cut.id)
    assert f"{cut.id}/e3" in look.shows


async def test_a_run_is_read_with_its_judgments(store: Store) -> None:
    look = await see(store, "read_run", run=BAD.id)
    assert look.facts == ("entries: 4", "judgments: 1")
    assert "score 0.00 · 0 of 2 criteria passed" in line_with(look, JUDGMENTS[1].id)


async def test_entries_are_read_in_full_from_one_to_another(store: Store) -> None:
    look = await see(store, "read_entries", run=BAD.id, first="e2", last="e3")
    assert look.facts == ("shown: e2 to e3",)
    assert "pytest -q" in look.text
    assert "3 failed, 8 passed" in look.text
    assert set(look.shows) == {BAD.id, f"{BAD.id}/e2", f"{BAD.id}/e3"}


async def test_a_long_entry_is_read_in_pages(store: Store) -> None:
    lines = "".join(f"line {number}\n" for number in range(4000))
    long = make_run(make_record(user(lines), says("Done.")))
    store.add_run(long)
    seen, offset = "", 0
    for _ in range(10):
        look = await see(store, "read_entries", run=long.id, first="e1", offset=offset)
        seen += look.text.split("\n", 1)[1]
        following = [fact for fact in look.facts if fact.startswith("to go on")]
        if not following:
            break
        offset = int(following[0].rpartition(" ")[2])
    assert seen == lines


async def test_entries_that_do_not_fit_are_named_to_go_on_with(store: Store) -> None:
    long = make_run(make_record(user("a" * 7000), says("b" * 7000)))
    store.add_run(long)
    look = await see(store, "read_entries", run=long.id, first="e1", last="e2")
    assert look.facts == ("shown: e1", "to go on: first e2")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"run": "r-0", "first": "e1"}, "there is no run 'r-0' in the store"),
        ({"run": BAD.id, "first": "e9"}, "there is no such entry; there are e1 to e4"),
        ({"run": BAD.id, "first": "e3", "last": "e1"}, "no entry lies between those two"),
    ],
)
async def test_what_is_not_there_is_a_look_that_says_so(store: Store, arguments: dict[str, Any], reason: str) -> None:
    look = await see(store, "read_entries", **arguments)
    assert look.failed
    assert reason in look.text


async def test_a_record_is_searched(store: Store) -> None:
    look = await see(store, "search_record", run=BAD.id, pattern="FAILED")
    assert (look.found, look.facts[0]) == (1, "matches: 1")
    assert f"{BAD.id}/e3" in look.shows


async def test_all_records_are_searched(store: Store) -> None:
    look = await see(store, "search_runs", pattern="11 passed")
    assert look.facts[:2] == ("runs with a match: 2", "searched: 3 of 3 runs, 12 entries")
    assert "1 matching entry · the first is e3: “11 passed in 0.2s”" in line_with(look, GOOD.id)


async def test_a_search_that_finds_nothing_says_what_was_searched(store: Store) -> None:
    look = await see(store, "search_runs", pattern="pip  install", kind="call", agent="codex")
    assert look.found == 0
    assert look.facts[0].startswith('matches: 0 for "pip install" (text, white space folded)')
    assert look.facts[0].endswith("in 2 of 2 runs, 2 entries of kind call")


async def test_a_search_that_was_stopped_shows_no_absence(store: Store) -> None:
    look = await see(store, "search_runs", gone=True, pattern="nothing of the kind")
    assert look.found is None
    assert "nothing found so far, but no absence is shown" in look.facts
    assert not any(fact.startswith("matches: 0") for fact in look.facts)


async def interrupted(store: Store, after: int, tool: str, **arguments: Any) -> Look:
    """What a tool shows that is stopped after so many judgments or entries."""
    ends = iter([False] * after)
    looker = Looker(Source(store, True, lambda: next(ends, True)), Seen(store))
    (look,) = await looker.look([looker.asked(looks((tool, arguments))[0])])
    return look


async def test_a_count_that_was_stopped_is_no_total(store: Store) -> None:
    verdicts = await interrupted(store, 2, "find_verdicts", rubric="tests", item="c1")
    runs = await interrupted(store, 5, "search_runs", pattern="passed")
    assert (verdicts.facts[0], runs.facts[0]) == ("found so far: 2", "runs with a match so far: 1")


async def test_an_expression_that_would_run_for_ever_is_stopped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.asking.across.SECONDS", 0.2)
    store.add_run(make_run(make_record(says("a" * 40 + "!"))))
    look = await see(store, "search_runs", pattern="(a|aa)+$", regex=True, kind="message")
    assert look.found is None
    assert look.seconds < 5


async def test_a_damaged_run_does_not_hide_the_others(store: Store) -> None:
    assert store.folder is not None
    (name,) = {blob for facts, blob in _blobs(store) if facts == OTHER.id}
    (store.folder / "blobs" / name[:2] / f"{name}.zst").write_bytes(zstandard.compress(b"{}"))
    look = await see(store, "search_runs", pattern="passed")
    assert look.facts[0] == "runs with a match: 2"
    assert "runs that could not be read: 1" in look.facts


def _blobs(store: Store) -> list[tuple[str, str]]:
    from adjudge.store.found import RunFilter, each_run

    return [(facts.id, blob) for facts, blob in each_run(store, RunFilter())]


async def test_no_such_runs_are_a_search_that_failed(store: Store) -> None:
    assert (await see(store, "search_runs", pattern="x", agent="nobody")).failed


async def test_rubrics_are_listed_and_opened_by_name_or_hash(store: Store) -> None:
    listed = await see(store, "list_rubrics")
    assert "rubric “tests”" in listed.text
    assert "3 judgments" in listed.text
    hash = listed.text.split("hash ")[1][:12]
    assert (await see(store, "list_rubrics", rubric=hash)).text == (await see(store, "list_rubrics", rubric="tests")).text
    assert "criterion “c1”: “`pytest` passes”" in (await see(store, "list_rubrics", rubric="tests")).text


async def test_verdicts_on_one_criterion_are_counted_over_all_runs(store: Store) -> None:
    failed = await see(store, "find_verdicts", rubric="tests", item="c1", found="fail")
    assert failed.facts == ("found: 1", "judgments: 3, the latest of each run")
    assert f"{JUDGMENTS[1].id}/c1" in failed.shows
    assert "fail, cause agent" in failed.text
    of_codex = await see(store, "find_verdicts", rubric="tests", item="c1", found="pass", agent="codex")
    assert of_codex.facts[:2] == ("found: 1", "judgments: 2, the latest of each run")


async def test_a_verdict_that_no_run_has_is_found_nowhere(store: Store) -> None:
    look = await see(store, "find_verdicts", rubric="tests", item="c2", found="pass")
    assert (look.found, look.facts[0], look.failed) == (0, "found: 0", False)


@pytest.mark.parametrize("more", [{"item": "c9"}, {"item": "c1", "agent": "nobody"}, {"item": "c1", "in_pass": "p-1"}])
async def test_what_was_never_judged_is_no_count_of_nought(store: Store, more: dict[str, Any]) -> None:
    assert (await see(store, "find_verdicts", rubric="tests", **more)).failed


async def test_agents_are_compared_as_the_command_does_it(store: Store) -> None:
    look = await see(store, "compare_agents", rubric="tests", agents=["codex", "gemini"])
    assert "agents: 2" in look.facts
    assert "2 of 2 runs judged · 2 tasks · all passed 0.00 · score 0.25 · “c1” passed 0.50" in look.text
    assert "rests on 1 common task, fewer than 20: not yet meaningful" in look.text


async def test_a_judgment_is_read_with_its_verdicts(store: Store) -> None:
    look = await see(store, "read_judgment", judgment=JUDGMENTS[1].id)
    line = look.shows[f"{JUDGMENTS[1].id}/c1"]
    assert line.startswith("criterion “c1” · fail, cause agent · note “The run of pytest ends with 3 failed, 8 passed.”")
    assert "cites “e3” “3 failed, 8 passed”" in line


async def test_no_look_is_longer_than_a_page(store: Store) -> None:
    for number in range(150):
        store.add_run(make_run(make_record(user("x" * 200), says(f"{number} " * 200)), f"{number} " * 100, agent="pi"))
    for tool, more in {"list_runs": {}, "list_endings": {}, "search_runs": {"pattern": "x"}}.items():
        look = await see(store, tool, **more)
        assert len(look.text) <= PAGE
        assert any(fact.startswith("to go on: offset") for fact in look.facts)


async def test_pages_go_on_where_the_last_one_ended(store: Store) -> None:
    for number in range(150):
        store.add_run(make_run(make_record(user("x"), says(f"{number}")), f"Task {number} {'of many ' * 20}"))
    found: list[str] = []
    while len(found) < 153:
        look = await see(store, "list_runs", offset=len(found))
        assert look.shows
        found += look.shows
    assert len(set(found)) == 153


def test_every_tool_has_its_words_and_only_reads() -> None:
    assert {tool.name for tool in look_tools()} == set(TOOLS)
    assert all(tool.description for tool in look_tools())


async def test_a_store_is_the_same_after_it_was_asked(store: Store) -> None:
    before = (store.runs(), store.judgments(), store.passes.rows())
    everything = looks(*((name, {}) for name in TOOLS))
    await ask("What is there?", store, ScriptedModel([everything, "no", "no", "no", "no", "no"]))
    assert (store.runs(), store.judgments(), store.passes.rows()) == before
