"""Runs are judged while somebody looks on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.conftest import Script, serve
from tests.cli.test_passes import blameless
from tests.store.conftest import refuse_blobs
from tests.web.served import served
from tests.web.speaking import Speaker, inside

from adjudge.judges.reader.own import own_rubric
from adjudge.rubric import Rubric
from adjudge.run import Outcome, Run
from adjudge.settings import BASE_URLS, KEYS, Settings
from adjudge.store.rubrics import keep_rubric
from adjudge.store.store import Store, open_store
from adjudge.testing import calls, decision, make_record, make_rubric, make_run, says, user, verdict

from .conftest import Page, text_of
from .test_hostile import HOSTILE

__all__ = ["serve"]

Serve = Callable[[Script], str]
Calls = Sequence[tuple[str, dict[str, Any]]]
RUBRIC = make_rubric("`pytest` passes")
RECORD = make_record(user("Fix it."), calls("bash", "pytest", result="3 passed", exit_status=0), says("All is well."))
PROVEN = verdict("c1", True, ("e3", "3 passed"))


def looking(*before: tuple[str, dict[str, Any]]) -> Callable[[dict[str, Any]], Calls]:
    """A model that makes these looks, one a question, and then decides; anew for each run."""
    script: list[Calls] = [[each] for each in before]
    script.append([("decide", decision(PROVEN, summary="It ran pytest."))])

    def answer(body: dict[str, Any]) -> Calls:
        asked: list[str] = [message["role"] for message in body["messages"]]
        return script[asked.count("assistant")]

    return answer


def in_a_loop() -> str:
    """A reader's answer that accuses in one dimension."""
    answer = json.loads(blameless())
    answer["scores"]["loop"] |= {"value": 2, "citations": [{"turn": "t1", "quote": "3 passed"}]}
    return json.dumps(answer)


OPEN = ("open_entry", {"entry": "e3"})


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with two runs and a rubric, without any key in the environment."""
    for name in (*KEYS, *BASE_URLS, "ADJUDGE_MODEL", "ADJUDGE_STORE"):
        monkeypatch.delenv(name, raising=False)
    with open_store(tmp_path / "store") as store:
        for number in (1, 2):
            store.add_run(a_run(number))
        keep_rubric(store, RUBRIC)
        yield store


def a_run(number: int) -> Run:
    return msgspec.structs.replace(make_run(RECORD, outcome=Outcome(0)), id=f"r-{number:016}", task_name=f"task-{number}")


@pytest.fixture
def speaker(own: Store, tmp_path: Path, serve: Serve) -> Iterator[Speaker]:
    """Inside a server whose model looks once and decides."""
    settings = Settings(store=str(tmp_path / "store"), model=serve(looking(OPEN)))
    with served(own, settings) as door, inside(door) as speaker:
        yield speaker


def test_each_look_is_told_as_it_is_made_and_the_end_leads_to_the_judgment(speaker: Speaker) -> None:
    begun = speaker.sent(f"/runs/{a_run(1).id}/judge", rubric=RUBRIC.hash)
    assert begun["href"] == f"/live/{begun['job']}"
    *steps, end = speaker.events(f"/live/{begun['job']}/events")
    assert [step.data["words"].partition(":")[0] for step in steps] == [
        "Question 1 is asked; 0 of at most 40 looks are used.",
        "Look 1 of at most 40",
        "Question 2 is asked; 1 of at most 40 looks are used.",
        "Judged",
    ]
    assert "open_entry  entry e3" in steps[1].data["words"]
    assert "3 passed" in steps[1].data["detail"]
    assert steps[-1].data["words"].startswith("Judged: 1 of 1 criterion pass.")
    assert end.data["state"] == "done"
    assert "It ran pytest." in speaker.page(end.data["href"])
    assert [row["id"] for row in speaker.get(f"/runs/{a_run(1).id}")["judgments"]] == [end.data["href"].partition("=")[2]]


def test_several_runs_are_judged_one_after_the_other_and_counted(speaker: Speaker) -> None:
    begun = speaker.sent("/judge", runs=[a_run(1).id, a_run(2).id, a_run(1).id], rubric=RUBRIC.hash)
    *steps, end = speaker.events(f"/live/{begun['job']}/events")
    words = [step.data["words"] for step in steps]
    assert [each for each in words if each.startswith("Run ")] == [
        f"Run 1 of 2: {a_run(1).id} task-1",
        f"Run 2 of 2: {a_run(2).id} task-2",
    ]
    assert words[-1] == "2 runs: 2 judged."
    assert (end.data["state"], end.data["href"]) == ("done", "/runs")


def test_what_is_wrong_with_one_run_holds_up_no_other(own: Store, tmp_path: Path, serve: Serve) -> None:
    gone = msgspec.structs.replace(a_run(3), workspace=str(tmp_path / "gone"))
    own.add_run(gone)
    settings = Settings(store=str(tmp_path / "store"), model=serve(looking(OPEN)))
    with served(own, settings) as door, inside(door) as speaker:
        begun = speaker.sent("/judge", runs=[gone.id, a_run(1).id], rubric=RUBRIC.hash)
        *steps, end = speaker.events(f"/live/{begun['job']}/events")
        assert steps[1].data["words"].startswith("Not judged: ")
        assert steps[-1].data["words"] == "2 runs: 1 judged, 1 not judged."
        assert end.data["state"] == "done"


def test_without_a_rubric_no_model_is_asked(own: Store, tmp_path: Path) -> None:
    with served(own, Settings(store=str(tmp_path / "store"))) as door, inside(door) as speaker:
        begun = speaker.sent(f"/runs/{a_run(1).id}/judge", rubric="none")
        *steps, end = speaker.events(f"/live/{begun['job']}/events")
        assert [step.data["words"] for step in steps] == [
            "Judged by the process alone: The agent's process ended with exit status 0."
        ]
        assert end.data["state"] == "done"


def test_with_a_rubric_and_no_model_or_key_nothing_begins_and_it_says_what_to_do(own: Store, tmp_path: Path) -> None:
    with served(own, Settings(store=str(tmp_path / "store"))) as door, inside(door) as speaker:
        place = f"/runs/{a_run(1).id}/judge"
        assert "No model is named to judge with" in speaker.refused(place, rubric=RUBRIC.hash)
        told = speaker.refused(place, rubric=RUBRIC.hash, model="anthropic/some-model")
        assert "no key for anthropic; set ANTHROPIC_API_KEY, or `adjudge connect anthropic`, or under Agents" in told
        assert "no such provider" in speaker.refused(place, rubric=RUBRIC.hash, model="nobody/some-model")
        assert speaker.get("/live") == []
        assert 'href="/agents"' in speaker.page(place)


def test_a_reader_says_what_it_reads_and_what_each_dimension_came_to(own: Store, tmp_path: Path, serve: Serve) -> None:
    settings = Settings(store=str(tmp_path / "store"), model=serve(lambda _: in_a_loop()))
    with served(own, settings) as door, inside(door) as speaker:
        begun = speaker.sent(f"/runs/{a_run(1).id}/judge", rubric=own_rubric().hash)
        first, *scores, last, _ = speaker.events(f"/live/{begun['job']}/events")
        words = [step.data["words"] for step in scores]
        assert re.fullmatch(
            r"The trajectory is read once, and the answer comes in one piece\. Input pruned: nothing left out; [\d,]+ "
            r"characters, estimated as [\d,]+ tokens\.",
            first.data["words"],
        )
        assert [each.partition(":")[0] for each in words] == [each.id for each in own_rubric().dimensions]
        assert "loop: 2, worse than blameless, cited t1" in words
        assert last.data["words"].startswith("Read: 1 of 9 dimensions worse than blameless.")


def test_a_reader_that_is_asked_again_says_why(own: Store, tmp_path: Path, serve: Serve) -> None:
    settings = Settings(store=str(tmp_path / "store"), model=serve(lambda _: '{"scores": {}}'))
    with served(own, settings) as door, inside(door) as speaker:
        begun = speaker.sent(f"/runs/{a_run(1).id}/judge", rubric=own_rubric().hash)
        *steps, _ = speaker.events(f"/live/{begun['job']}/events")
        words = [step.data["words"] for step in steps]
        assert words[1].startswith("The same is asked once more: ")
        assert words[2].startswith("An answer in prose is asked for: ")
        assert words[-1].startswith("No verdict: ")
        assert speaker.get(f"/runs/{a_run(1).id}")["judgments"][0]["judge"] == "reader"


def test_a_judging_that_is_stopped_leaves_no_judgment(own: Store, tmp_path: Path, serve: Serve) -> None:
    held: list[str] = []

    def waiting(body: dict[str, Any]) -> Calls:
        held.append(speaker.sent(f"/live/{begun['job']}/stop")["state"])
        return looking()(body)

    settings = Settings(store=str(tmp_path / "store"), model=serve(waiting))
    with served(own, settings) as door, inside(door) as speaker:
        begun = speaker.sent(f"/runs/{a_run(1).id}/judge", rubric=RUBRIC.hash)
        *_, end = speaker.events(f"/live/{begun['job']}/events")
        assert end.data["state"] == "stopped"
        assert speaker.get(f"/runs/{a_run(1).id}")["judgments"] == []


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("rubric", [RUBRIC, own_rubric()])
def test_where_a_judgment_could_not_be_kept_no_model_is_asked(
    own: Store, tmp_path: Path, serve: Serve, rubric: Rubric, runs: int
) -> None:
    asked: list[dict[str, Any]] = []

    def noted(body: dict[str, Any]) -> str:
        asked.append(body)
        return "nothing"

    keep_rubric(own, rubric)
    refuse_blobs(tmp_path / "store" / "blobs")
    settings = Settings(store=str(tmp_path / "store"), model=serve(noted))
    with served(own, settings) as door, inside(door) as speaker:
        begun = speaker.sent("/judge", runs=[a_run(number + 1).id for number in range(runs)], rubric=rubric.hash)
        *_, end = speaker.events(f"/live/{begun['job']}/events")
        assert end.data["state"] == "failed"
        assert "blobs" in end.data["failure"]
        assert asked == []


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"rubric": "x" * 101},
        {"rubric": "none", "model": "x" * 301},
        {"rubric": "none", "more": 1},
        {"rubric": 7},
    ],
)
def test_what_is_sent_is_bounded_and_known(speaker: Speaker, values: dict[str, Any]) -> None:
    assert speaker.send(f"/runs/{a_run(1).id}/judge", **values).status_code == 400
    assert speaker.get("/live") == []


def test_runs_and_rubrics_that_are_not_there_are_said(speaker: Speaker) -> None:
    assert "r-none" in speaker.refused("/runs/r-none/judge", rubric="none")
    assert "0000" in speaker.refused(f"/runs/{a_run(1).id}/judge", rubric="0" * 64)
    assert speaker.send("/judge", runs=[], rubric="none").status_code == 400
    assert speaker.send("/judge", runs=[f"r-{number}" for number in range(51)], rubric="none").status_code == 400


# --- the form


def test_the_form_names_the_rubrics_the_model_and_what_is_judged(speaker: Speaker) -> None:
    html = speaker.page(f"/judge?run={a_run(1).id}&run={a_run(2).id}")
    text = text_of(html)
    assert "Judge 2 runs" in text
    assert 'data-send="/api/judge"' in html
    assert html.count('name="runs"') == 2
    assert "1 criterion: the evaluator looks for itself." in text
    assert (
        f"{len(own_rubric().dimensions)} dimensions: a reader goes through the trajectory once. Comes with adjudge." in text
    )
    assert "Nothing but the end of the agent’s own process counts" in text
    assert "none, only the record" in text
    assert "no model to judge with" not in text


def test_a_run_leads_to_its_form_and_the_list_to_that_of_several(page: Page) -> None:
    from .conftest import RUN

    assert f'href="/runs/{RUN}/judge"' in page(f"/runs/{RUN}")
    assert 'formaction="/judge"' in page("/runs")
    assert "Judge pydicom-1413" in text_of(page(f"/runs/{RUN}/judge"))


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_hostile_becomes_part_of_the_form(own: Store, payload: str) -> None:
    from litestar.testing import TestClient

    from adjudge.web.app import create_app
    from adjudge.web.guard import Access, Doors

    from .conftest import BASE
    from .test_hostile import Seen

    keep_rubric(own, Rubric(payload, RUBRIC.criteria, payload, payload))
    run = msgspec.structs.replace(a_run(4), task_name=payload, agent=payload, model=payload, workspace=payload)
    own.add_run(run)
    access = Access(frozenset({"127.0.0.1"}))
    client = TestClient(create_app(own, Settings(model=payload), access, Doors()), base_url=BASE)
    seen = Seen()
    answer = client.get(f"/runs/{run.id}/judge")
    seen.feed(answer.text)
    assert (answer.status_code, seen.handlers, seen.inside_script) == (200, [], "")
    assert [lead for lead in seen.leads if not lead.startswith(("/", "#", "?"))] == []
