"""Passes over the web interface: planned, started in processes of their own, watched, stopped and gone on with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from litestar.testing import TestClient
from sqlalchemy import select
from tests.cli.conftest import Script, serve
from tests.cli.test_passes import blameless
from tests.passes.stored import CONDUCT, READER, a_run
from tests.web import sample, sample_passes
from tests.web.served import served
from tests.web.speaking import Speaker, inside

from adjudge.judges.reader.own import own_rubric
from adjudge.run import Outcome
from adjudge.settings import BASE_URLS, KEYS, Settings
from adjudge.store.pass_rows import PassRow
from adjudge.store.rubrics import keep_rubric
from adjudge.store.schema import passes
from adjudge.store.store import Store, open_store
from adjudge.testing import decision, make_rubric, verdict
from adjudge.web.app import create_app
from adjudge.web.doing.passing import environment_for
from adjudge.web.guard import Access, Doors

from .conftest import BASE, text_of
from .test_hostile import HOSTILE, Seen

__all__ = ["serve"]

Serve = Callable[[Script], str]
OWN = own_rubric().hash
RUNS = 5
ADJUDGE = (sys.executable, "-m", "adjudge")
PATIENCE = 120.0


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, model or store in the environment, which processes of passes inherit."""
    for name in (*KEYS, *BASE_URLS, "ADJUDGE_MODEL", "ADJUDGE_STORE", "ADJUDGE_BLOBS", "ADJUDGE_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    """A store with five runs: four of codex, one of which is unresolved, and one of another harness."""
    with open_store(tmp_path / "store") as store:
        for number in range(RUNS):
            grade = "unresolved" if number == 3 else "resolved"
            store.add_run(a_run(number, "other" if number == 4 else "codex", outcome=Outcome(0, grade)))  # type: ignore[arg-type]  # a grade
        yield store


class Held:
    """A model that answers, once it may; `asked` is released with each question."""

    def __init__(self, answer: Callable[[], str] = blameless) -> None:
        self.asked, self.may, self._answer = threading.Semaphore(0), threading.Event(), answer

    def __call__(self, _: dict[str, Any]) -> str:
        self.asked.release()
        assert self.may.wait(PATIENCE)
        return self._answer()


class HeldAfterALook:
    """A model that makes one look at each run, says by `asked` that it was told what came back, and decides once it may."""

    def __init__(self) -> None:
        self.asked, self.may = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, body: dict[str, Any]) -> Sequence[tuple[str, dict[str, Any]]]:
        if all(message["role"] != "assistant" for message in body["messages"]):
            return [("open_entry", {"entry": "e2"})]
        self.asked.release()
        assert self.may.acquire(timeout=PATIENCE)
        return [("decide", decision(verdict("c1", False), summary="Nothing shows it."))]


@pytest.fixture
def held(serve: Serve) -> Iterator[tuple[Held, str]]:
    held = Held()
    yield held, serve(held)
    held.may.set()


def settings(store: Store, model: str | None) -> Settings:
    return Settings(store=str(store.folder), model=model)


def start(speaker: Speaker, **asked: Any) -> Any:
    """Start what a plan shows."""
    given = {"rubric": OWN, **asked}
    query = {name: value for name, value in given.items() if name in ("rubric", "quota", "share", "seed", "again")}
    plan = speaker.client.get("/api/passes/plan", params=query).json()
    return speaker.sent("/passes", plan=plan["fingerprint"], **given)


def until(store: Store, name: str, is_so: Callable[[PassRow], bool]) -> PassRow:
    """The row of a pass, as soon as something is so of it and nobody judges it."""
    ends = time.monotonic() + PATIENCE
    while time.monotonic() < ends:
        row = store.passes.row(name)
        if is_so(row) and store.passes.under_way() is None:
            return row
        time.sleep(0.05)
    raise AssertionError(f"it did not come about: {store.passes.row(name)}")


# --- plans


def test_a_plan_shows_what_the_command_shows(own: Store, serve: Serve) -> None:
    model = serve(lambda _: pytest.fail("a plan asks no model"))
    store = ["--store", str(own.folder)]
    printed = subprocess.run(
        [*ADJUDGE, "pass", "plan", "--quota=2", "--always=*/unresolved", "--seed=7", f"--model={model}", *store, "--json"],
        capture_output=True,
        check=True,
    )
    command = json.loads(printed.stdout)
    with served(own, settings(own, model)) as door, inside(door) as speaker:
        query = f"rubric={OWN}&quota=2&always=*/unresolved&seed=7&share=&again="
        shown = speaker.client.get(
            "/api/passes/plan", params={"rubric": OWN, "quota": 2, "always": "*/unresolved", "seed": 7}
        )
        assert shown.json()["fingerprint"] == command["fingerprint"]
        assert shown.json()["strata"] == command["selection"]["strata"]
        text = text_of(speaker.page(f"/passes/new?{query}"))
    for row in ("codex resolved 3 0 0 2", "codex unresolved 1 0 0 1", "other resolved 1 0 0 1", "all 5 0 0 4"):
        assert row in text
    assert "$0 for 4 judgments" in text
    assert "Judge 4 runs for $0" in text


def test_what_of_a_plan_cannot_be_used_is_said_beside_the_form(own: Store) -> None:
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        for query, told in {
            "quota=2&share=10%25": "give one of them",
            "quota=two": "quota: must be a whole number",
            "seed=-1": "seed: must be a whole number",
            "share=1.5": "--share 1.5",
            "model=nobody/x": "no such provider",
        }.items():
            text = text_of(speaker.page(f"/passes/new?rubric={OWN}&{query}"))
            assert told in text, query
            assert "Judge 5 runs" not in text
        assert "there is no rubric" in text_of(speaker.page("/passes/new?rubric=0000000000000000"))


def test_a_plan_without_a_model_or_key_has_no_button_and_says_why(own: Store) -> None:
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        without = text_of(speaker.page(f"/passes/new?rubric={OWN}"))
        keyless = text_of(speaker.page(f"/passes/new?rubric={OWN}&model=openai/gpt-4o"))
    assert "No model is named to judge with" in without
    assert "no key for openai" in keyless
    assert "About $" in keyless  # what it may cost is told all the same
    assert "Judge 5 runs" not in without + keyless


def test_a_stratum_that_is_misspelt_is_told(own: Store, serve: Serve) -> None:
    with served(own, settings(own, serve(lambda _: ""))) as door, inside(door) as speaker:
        text = text_of(speaker.page(f"/passes/new?rubric={OWN}&quota=0&always=*/reslved"))
    assert "*/reslved: no run is of this harness and outcome" in text
    assert "nothing to judge" in text


# --- starting and watching


def test_a_pass_is_started_watched_and_finished(own: Store, serve: Serve) -> None:
    with served(own, settings(own, serve(lambda _: blameless()))) as door, inside(door) as speaker:
        begun = start(speaker, quota=2, at_once=2)
        *changes, end = speaker.events(f"/passes/{begun['id']}/events")
        assert {each.name for each in changes} <= {"now"}
        assert (end.name, end.data["standing"], end.data["row"]["landed"], end.data["under_way"]) == (
            "end",
            "finished",
            4,
            False,
        )
        assert [each["landed"] for each in end.data["strata"]] == [2, 1, 1]
        row = own.passes.row(begun["id"])
        assert (row.status, row.landed, row.model) == ("finished", 4, settings(own, None).model or row.model)
        text = text_of(speaker.page(begun["href"]))
        assert "4 of 4 runs done." in text
        assert "2 runs of each stratum; seed 0" in text
        assert "Pass over 4 runs" in text
        listed = speaker.get("/passes")["passes"][0]
        assert (listed["standing"], listed["row"]["id"]) == ("finished", begun["id"])
        assert f'href="/results/{begun["id"]}"' in speaker.page("/passes")


def test_what_is_started_is_the_plan_that_was_shown_or_nothing(own: Store, serve: Serve) -> None:
    with served(own, settings(own, serve(lambda _: blameless()))) as door, inside(door) as speaker:
        plan = speaker.client.get("/api/passes/plan", params={"rubric": OWN}).json()
        own.add_run(a_run(9))
        told = speaker.refused("/passes", plan=plan["fingerprint"], rubric=OWN)
        assert "6 runs would be judged: look at the plan again" in told
        assert own.passes.rows() == []
        again = speaker.client.get("/api/passes/plan", params={"rubric": OWN}).json()
        assert again["fingerprint"] != plan["fingerprint"]
        told = speaker.refused("/passes", plan=again["fingerprint"], rubric=OWN, seed=1)
        assert "look at the plan again" in told


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("anthropic/some-model", "no key for anthropic"),
        ("nobody/some-model", "no such provider"),
        ("--yes", "no such provider"),
    ],
)
def test_why_none_began_is_what_the_process_said(own: Store, model: str, told: str) -> None:
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        assert told in speaker.refused("/passes", plan="0" * 16, rubric=OWN, model=model)
        assert own.passes.rows() == []


def test_one_pass_at_a_time(own: Store, held: tuple[Held, str]) -> None:
    model, name = held
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        plan = speaker.client.get("/api/passes/plan", params={"rubric": OWN, "again": True}).json()
        told = speaker.refused("/passes", plan=plan["fingerprint"], rubric=OWN, again=True)
        assert "one at a time" in told
        text = text_of(speaker.page(f"/passes/new?rubric={OWN}"))
        assert "a pass is under way" in text
        assert "Judge 5 runs" not in text
        model.may.set()
        until(own, begun["id"], lambda row: row.status == "finished")


def test_a_pass_is_stopped_and_gone_on_with(own: Store, held: tuple[Held, str]) -> None:
    model, name = held
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        assert model.asked.acquire(timeout=PATIENCE)
        assert "Stop" in text_of(speaker.page(begun["href"]))
        speaker.sent(f"/passes/{begun['id']}/stop")
        text = text_of(speaker.page(begun["href"]))
        assert "stopping" in text
        assert "End at once" in text
        model.may.set()
        stopped = until(own, begun["id"], lambda row: row.status == "stopped")
        assert (stopped.landed, stopped.reason) == (1, "it was asked to stop")
        text = text_of(speaker.page(begun["href"]))
        assert "Resume" in text
        assert "stopping" not in text
        speaker.sent(f"/passes/{begun['id']}/resume", at_once=4)
        assert until(own, begun["id"], lambda row: row.status == "finished").landed == RUNS


def test_stopped_twice_it_ends_at_once(own: Store, held: tuple[Held, str]) -> None:
    model, name = held
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        assert model.asked.acquire(timeout=PATIENCE)
        for _ in range(2):
            speaker.sent(f"/passes/{begun['id']}/stop")
        assert until(own, begun["id"], lambda row: row.status == "stopped").landed == 0


def test_what_brought_no_verdict_is_judged_again(own: Store, serve: Serve) -> None:
    answers: Iterator[str] = iter(["no JSON"] * 4)
    model = serve(lambda _: next(answers, blameless()))
    with served(own, settings(own, model)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        assert until(own, begun["id"], lambda row: row.status == "finished").errored == 1
        facts = speaker.get(f"/passes/{begun['id']}")["now"]
        assert facts["failures"] == {"judge_parse_failed": 1}
        assert "Judge again what brought no verdict" in text_of(speaker.page(begun["href"]))
        speaker.sent(f"/passes/{begun['id']}/resume", retry=True)
        assert until(own, begun["id"], lambda row: row.errored == 0).landed == RUNS


def test_a_limit_that_is_spent_ends_the_pass_and_is_told(own: Store, serve: Serve) -> None:
    with served(own, settings(own, serve(lambda _: blameless()))) as door, inside(door) as speaker:
        begun = start(speaker, max_cost=2.5)
        until(own, begun["id"], lambda row: row.status == "finished")
        text = text_of(speaker.page(begun["href"]))
        assert "at most $2.50" in text
        assert speaker.get(f"/passes/{begun['id']}")["started"]["max_cost"] == 2.5


# --- who judges


def test_a_pass_that_somebody_else_judges_is_watched_and_never_signalled(own: Store, serve: Serve) -> None:
    writer = own.passes.hold("a test")
    try:
        identifier = writer.begin(READER, {}, CONDUCT, [f"r-{number:016x}" for number in range(3)])
        with served(own, settings(own, None)) as door, inside(door) as speaker:
            assert "not judged by a process that this server started" in speaker.refused(f"/passes/{identifier}/stop")
            text = text_of(speaker.page(f"/passes/{identifier}"))
            assert f"kill {os.getpid()}" in text
            assert "Stop" not in text
            changes = speaker.events(f"/passes/{identifier}/events")
            first = next(changes).data
            assert (first["under_way"], first["pid"], first["row"]["landed"]) == (True, os.getpid(), 0)
            writer.end(identifier, "stopped", "a test")
            writer.release()
            *_, end = changes
            assert (end.name, end.data["standing"], end.data["row"]["reason"]) == ("end", "stopped", "a test")
    finally:
        writer.release()


def test_a_pass_that_nobody_judges_has_died_and_can_be_resumed(own: Store) -> None:
    writer = own.passes.hold("a test")
    identifier = writer.begin(READER, {}, CONDUCT, [f"r-{number:016x}" for number in range(3)])
    writer.release()
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        text = text_of(speaker.page(f"/passes/{identifier}"))
        assert "died" in text
        assert "Resume" in text
        assert [event.name for event in speaker.events(f"/passes/{identifier}/events")] == ["now", "end"]
        assert "died" in text_of(speaker.page("/passes"))


def test_modules_in_the_folder_where_the_server_stands_are_not_run(
    own: Store, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    for name in ("json", "msgspec", "adjudge", "sitecustomize"):
        (agents / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\nraise SystemExit(9)\n")
    monkeypatch.chdir(agents)
    with served(own, settings(own, serve(lambda _: blameless()))) as door, inside(door) as speaker:
        begun = start(speaker)
        until(own, begun["id"], lambda row: row.status == "finished")
    assert not (tmp_path / "ran").exists()


def test_the_token_of_the_web_interface_is_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_TOKEN", "t" * 43)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    environment = environment_for(Settings(store="postgresql://u:secret@host/db", blobs="/srv/blobs"))
    assert "ADJUDGE_TOKEN" not in environment
    assert environment["OPENAI_API_KEY"] == "sk-of-a-test"
    assert environment["ADJUDGE_STORE"] == "postgresql://u:secret@host/db"
    assert environment["ADJUDGE_BLOBS"] == "/srv/blobs"


# --- what is under way


def test_what_is_under_way_is_shown_and_a_judgment_followed_look_by_look(own: Store, serve: Serve) -> None:
    rubric = make_rubric("It is mended.")
    keep_rubric(own, rubric)
    model = HeldAfterALook()
    with served(own, settings(own, serve(model))) as door, inside(door) as speaker:
        begun = start(speaker, rubric=rubric.hash, at_once=2)
        place = f"/passes/{begun['id']}"
        try:
            assert model.asked.acquire(timeout=PATIENCE)
            assert model.asked.acquire(timeout=PATIENCE)
            judging = speaker.get(place)["now"]["judging"]
            assert {each["words"] for each in judging} == {"Look 1 of at most 40: open_entry  entry e2"}
            first = judging[0]["run"]
            page = speaker.page(place)
            assert f'href="/runs/{first}"' in page
            assert "Look 1 of at most 40" in text_of(page)
            followed = speaker.sent(f"{place}/runs/{first}/follow")
            assert speaker.sent(f"{place}/runs/{first}/follow") == followed
            steps = speaker.events(f"/live/{followed['job']}/events")
            told = [next(steps).data for _ in range(3)]
            assert [step["words"] for step in told] == [
                "Question 1 is asked; 0 of at most 40 looks are used.",
                "Look 1 of at most 40: open_entry  entry e2",
                "Question 2 is asked; 1 of at most 40 looks are used.",
            ]
            assert "It is mended." in told[1]["detail"]
            assert "is not being judged any more" in speaker.refused(f"{place}/runs/r-none/follow")
            model.may.release(2)
            *_, last, end = steps
            assert last.data["words"] == "Its judge has come to an end; the page of the run has what it found."
            assert (end.data["state"], end.data["href"]) == ("done", f"/runs/{first}")
            assert first not in [each["run"] for each in speaker.get(place)["now"]["judging"]]
        finally:
            model.may.release(RUNS)
        until(own, begun["id"], lambda row: row.status == "finished")
        assert speaker.get(place)["now"]["judging"] == []
        assert "Under way" not in text_of(speaker.page(place))


def test_of_a_reader_it_is_shown_what_it_reads_and_since_when(own: Store, held: tuple[Held, str]) -> None:
    model, name = held
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        assert model.asked.acquire(timeout=PATIENCE)
        (only,) = speaker.get(f"/passes/{begun['id']}")["now"]["judging"]
        assert only["words"].startswith("The trajectory is read once")
        text = text_of(speaker.page(f"/passes/{begun['id']}"))
        assert f"since {only['since'][11:19]} UTC" in text


def test_a_process_that_is_killed_leaves_nothing_that_seems_alive(own: Store, held: tuple[Held, str]) -> None:
    model, name = held
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        begun = start(speaker, at_once=1)
        place = f"/passes/{begun['id']}"
        assert model.asked.acquire(timeout=PATIENCE)
        (only,) = speaker.get(place)["now"]["judging"]
        followed = speaker.sent(f"{place}/runs/{only['run']}/follow")
        steps = speaker.events(f"/live/{followed['job']}/events")
        assert next(steps).data["words"].startswith("The trajectory is read once")
        os.kill(speaker.get(place)["now"]["pid"], signal.SIGKILL)
        last, end = steps
        assert last.data["words"].startswith("The process that judged this pass has ended")
        assert end.data["state"] == "done"
        text = text_of(speaker.page(place))
        assert "died" in text
        assert "Under way" not in text
        assert speaker.get(place)["now"]["judging"] == []


# --- the end of the server


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_end_of_the_server_in_mid_pass_leaves_what_can_be_resumed(
    own: Store, held: tuple[Held, str], number: signal.Signals, tmp_path: Path
) -> None:
    model, name = held
    told = tmp_path / "stderr"
    with told.open("wb") as stderr:
        server = subprocess.Popen(
            [*ADJUDGE, "serve", "--port", "0", "--store", str(own.folder)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "ADJUDGE_MODEL": name},
        )
    assert server.stdout is not None
    try:
        with inside(server.stdout.readline().decode().strip()) as speaker:
            begun = start(speaker, at_once=1)
            assert model.asked.acquire(timeout=PATIENCE)
            events = speaker.events(f"/passes/{begun['id']}/events")
            assert next(events).name == "now"  # somebody watches it
            server.send_signal(number)
            status = server.wait(PATIENCE)
            with suppress(httpx.RemoteProtocolError):  # the killed server hangs up in mid-stream
                assert "end" not in [event.name for event in events]
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    model.may.set()
    if number == signal.SIGKILL:  # nobody asked the pass to end: it goes on by itself
        assert status == -signal.SIGKILL
        assert until(own, begun["id"], lambda row: row.status == "finished").landed == RUNS
        return
    assert "Traceback" not in told.read_text()
    stopped = until(own, begun["id"], lambda row: row.status == "stopped")
    assert stopped.landed == 1
    with served(own, settings(own, name)) as door, inside(door) as speaker:
        speaker.sent(f"/passes/{begun['id']}/resume")
        assert until(own, begun["id"], lambda row: row.status == "finished").landed == RUNS


# --- what is sent


@pytest.mark.parametrize(
    "values",
    [
        {"plan": "x"},
        {"plan": "x", "rubric": OWN, "more": 1},
        {"plan": "x", "rubric": OWN, "model": "m\0n"},
        {"plan": "x", "rubric": OWN, "always": ["*/x\0"]},
        {"plan": "x", "rubric": OWN, "always": ["*/x"] * 51},
        {"plan": "x", "rubric": OWN, "quota": -1},
        {"plan": "x", "rubric": OWN, "seed": 2**53},
        {"plan": "x", "rubric": OWN, "at_once": 0},
        {"plan": "x", "rubric": OWN, "max_cost": -1},
        {"plan": "x", "rubric": OWN, "max_cost": "nan"},
    ],
)
def test_what_is_sent_is_bounded_and_known(own: Store, values: dict[str, Any]) -> None:
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        assert speaker.send("/passes", **values).status_code == 400


def test_a_name_that_is_no_pass_becomes_no_command(own: Store) -> None:
    with served(own, settings(own, None)) as door, inside(door) as speaker:
        for name in ("p-none", "--help", "-y"):
            assert "there is no pass" in speaker.refused(f"/passes/{name}/resume")
            assert speaker.client.get(f"/passes/{name}").status_code == 404
            assert speaker.client.get(f"/api/passes/{name}/events").status_code == 404


def test_an_empty_store_says_which_command_fills_the_page(tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store, served(store, settings(store, None)) as door, inside(door) as speaker:
        assert "adjudge pass plan" in text_of(speaker.page("/passes"))
        assert speaker.get("/passes") == {"passes": [], "next": None, "under_way": None}


# --- what a pass shows, of a store in which several were


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Speaker, dict[str, str]]]:
    with (
        sample.make(tmp_path_factory.mktemp("passes") / "store") as store,
        sample_passes.passes(store) as names,
        served(store) as door,
        inside(door) as speaker,
    ):
        yield speaker, names


def test_the_list_says_where_each_pass_stands_and_what_it_cost(sampled: tuple[Speaker, dict[str, str]]) -> None:
    speaker, names = sampled
    text = text_of(speaker.page("/passes"))
    assert f"{names['finished']} nine dimensions reader openrouter/strong-model finished 7 of 8 1" in text
    assert "$0.1400 $0.11 to $0.26" in text
    assert "provider down 3 of 8 1" in text
    assert text.index(names["live"]) < text.index(names["stopped"]) < text.index(names["finished"])
    assert "No pass is behind that one" in text_of(speaker.page(f"/passes?after={names['finished']}"))


def test_a_pass_of_which_something_is_lost_is_listed_all_the_same(tmp_path: Path) -> None:
    with sample.make(tmp_path / "store") as store:
        finished, _ = sample_passes.fill(store)
        with store.reading() as connection:
            blob = connection.scalar(select(passes.c.blob).where(passes.c.id == finished))
        assert store.folder is not None
        next(store.folder.rglob(f"{blob}*")).unlink()
        with served(store) as door, inside(door) as speaker:
            assert finished in text_of(speaker.page("/passes"))
            assert speaker.client.get(f"/passes/{finished}").status_code == 503


def test_true_cost_stands_beside_the_estimate(sampled: tuple[Speaker, dict[str, str]]) -> None:
    speaker, names = sampled
    finished = text_of(speaker.page(f"/passes/{names['finished']}"))
    assert "Cost of judging $0.1400" in finished
    assert "estimate $0.11 to $0.26 came out within that range" in finished
    stopped = text_of(speaker.page(f"/passes/{names['stopped']}"))
    assert "so far 50% of the runs are judged" in stopped
    assert "at most $2.00" in stopped
    assert "8 calls in a row failed" in stopped


def test_what_goes_on_is_told_from_rows_alone(sampled: tuple[Speaker, dict[str, str]]) -> None:
    speaker, names = sampled
    now = speaker.get(f"/passes/{names['live']}")["now"]
    assert (now["row"]["landed"], now["row"]["selected"], now["row"]["errored"]) == (5, 8, 2)
    assert now["failures"] == {"busy": 1, "judge_parse_failed": 1}
    assert (now["row"]["cost"], now["reserved"]) == (pytest.approx(0.06), 0.04)
    assert (now["failed_in_a_row"], now["busy"]) == (1, 1)
    assert {(each["harness"], each["landed"], each["errored"]) for each in now["strata"]} >= {("opencode", 1, 1)}
    text = text_of(speaker.page(f"/passes/{names['live']}"))
    assert "the provider is busy" in text
    assert "another is under way" in text_of(speaker.page(f"/passes/{names['stopped']}"))


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_hostile_becomes_part_of_a_page_of_passes(payload: str, tmp_path: Path) -> None:
    rubric = msgspec.structs.replace(CONDUCT, name=payload)
    judge = msgspec.structs.replace(READER, model=payload, limits={payload: payload})
    with open_store(tmp_path / "store") as store:
        store.add_run(a_run(1, payload))
        writer = store.passes.hold("a test")
        told = sample_passes.kept(1, 0.1)
        told["sampling"]["always"] = [payload]
        told["strata"][0]["harness"] = payload
        name = writer.begin(judge, told, rubric, [a_run(1).id])
        writer.end(name, "failed", payload)
        writer.release()
        app = create_app(store, Settings(model=payload), Access(frozenset({"127.0.0.1"})), Doors())
        client = TestClient(app, base_url=BASE)
        asked = {"rubric": CONDUCT.hash, "model": payload, "always": payload, "share": payload[:90]}
        for path, query in (
            ("/passes", {}),
            (f"/passes/{name}", {}),
            (f"/passes/{name}/now", {}),
            ("/passes/new", asked),
            ("/passes/new", {"rubric": CONDUCT.hash, "model": "http://127.0.0.1:9/v1#m", "always": payload}),
        ):
            answer = client.get(path, params=query)
            seen = Seen()
            seen.feed(answer.text)
            assert (answer.status_code, seen.handlers, seen.inside_script) == (200, [], ""), path
            assert [lead for lead in seen.leads if not lead.startswith(("/", "#", "?"))] == [], path
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]", answer.text), path
