"""Building a run: what is wrong by field, the same by hand, and an agent that works and is judged."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.conftest import serve
from tests.machines.conftest import sandboxed
from tests.store.conftest import refuse_blobs
from tests.web import sample

from adjudge import wiring
from adjudge.agents.tasks import read_task
from adjudge.connected import connect
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Rubric, rubric_hash
from adjudge.rubric.reading import read_rubric
from adjudge.settings import Settings
from adjudge.store.rubrics import keep_rubric
from adjudge.store.store import Store, open_store
from adjudge.testing import decision, make_record, make_rubric, make_run, says, user, verdict
from adjudge.web.guard import Access

from .conftest import ACCESS, Client, text_of
from .doing import ended, guard_of, inside, page, said, working
from .test_hostile import HOSTILE
from .test_judging import Serve

__all__ = ["sandboxed", "serve"]

PROBES = (
    Criterion("made", "`made.txt` holds `made`.", FileProbe("made.txt", equals="made\n")),
    Criterion("lists", "`ls` prints `made.txt`.", CommandProbe("ls", stdout="made.txt\n")),
)
RUBRIC = Rubric("made", PROBES, rubric_hash(PROBES), "made.yaml")
COMMAND = {"agent": "command"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        keep_rubric(store, RUBRIC)
        yield store


@pytest.fixture
def client(store: Store) -> Client:
    return inside(guard_of(store))


def build(**more: Any) -> dict[str, Any]:
    return {
        "instructions": "Make made.txt.\nNothing else.",
        "agents": [COMMAND],
        "command": "sh -c 'echo made > made.txt'",
    } | more


def checked(client: Client, **more: Any) -> Any:
    status, found = said(client, "/api/build/check", **build(**more))
    assert status == 200, found
    return found


def faults(client: Client, **more: Any) -> dict[str, str]:
    return {fault["field"]: fault["words"] for fault in checked(client, **more)["faults"]}


# --- what is wrong


def test_what_is_right_has_no_fault_and_says_what_will_happen(client: Client) -> None:
    found = checked(client, rubric=RUBRIC.hash, attempts=3)
    assert found["faults"] == []
    happens = dict(found["happens"])
    assert happens["attempts"] == "3, one after another"
    assert happens["judged by"] == "2 criteria of made, all probes: no model is asked"
    assert found["judging"] == {"figure": "$0", "words": "No model is asked."}


def test_an_empty_form_says_all_that_is_missing_at_once(client: Client) -> None:
    status, found = said(client, "/api/build/check", instructions=None, agents=[])
    assert status == 200
    assert {fault["field"] for fault in found["faults"]} == {"instructions", "agents"}


@pytest.mark.parametrize(
    ("field", "given", "words"),
    [
        ("folder", {"files": "folder", "folder": "relative"}, "absolute path"),
        ("folder", {"files": "folder", "folder": "/no/such/folder"}, "must be a path that exists"),
        ("folder", {"files": "folder", "folder": "/etc/hostname"}, "must be a folder"),
        ("folder", {"files": "folder"}, "absolute path"),
        ("git", {"files": "git", "git": "https://user:pw@example.org/x.git", "commit": "main"}, "no password"),
        ("git", {"files": "git", "git": "relative/x", "commit": "main"}, "absolute path"),
        ("commit", {"files": "git", "git": "https://example.org/x.git", "commit": "--upload-pack=x"}, "id of a commit"),
        ("commit", {"files": "git", "git": "https://example.org/x.git"}, "is empty"),
        ("image", {"image": "-v /:/host"}, "name of an image"),
        ("memory", {"memory": "much"}, "a size"),
        ("seconds", {"seconds": -1}, "above 0"),
        ("requests", {"requests": 0}, "above 0"),
        ("grader", {"grader": " "}, "is empty"),
        ("grader", {"grader_files": "/etc"}, "is missing"),
        ("grader_files", {"grader": "true", "grader_files": "/no/such"}, "must be a path that exists"),
        ("agents", {"agents": [{"agent": "nobody"}]}, "is not known"),
        ("agents", {"agents": [COMMAND, COMMAND]}, "chosen twice"),
        ("agents", {"agents": [{"agent": "codex"}]}, "name the agent's model"),
        ("agents", {"agents": [{"agent": "codex", "model": "openai/x"}]}, "no key for openai"),
        ("agents", {"agents": [{"agent": "/no/such.yaml", "model": "ollama/x"}]}, "cannot be read"),
        ("agents", {"command": "no-such-program-here"}, "no-such-program-here"),
        ("agents", {"command": None}, "command"),
        ("agents", {"records": ["../secret"]}, "'../secret'"),
        ("command", {"command": "echo 'open"}, "taken apart as a shell does"),
        ("variables", {"variables": ["NO_SUCH_VARIABLE_HERE"]}, "no such variable"),
        ("rubric", {"rubric": "f" * 64}, "there is no rubric"),
        ("rubric", {"rubric": "file", "rubric_file": "x.yaml"}, "absolute path"),
        ("rubric", {"rubric": "file", "rubric_file": "/no/such.yaml"}, "cannot be read"),
        ("rubric", {"rubric": wiring.find_dimensions(None).hash}, "a reader scores"),
        ("model", {"rubric": wiring.find_rubric(str(wiring.DEMO / "rubric.yaml")).hash}, "needs a model"),
    ],
)
def test_what_is_wrong_is_told_at_its_field(client: Client, field: str, given: dict[str, Any], words: str) -> None:
    assert words in faults(client, **given)[field]
    status, found = said(client, "/api/build", **build(**given))
    assert status == 400, "and nothing is started"
    assert words in found["detail"]
    assert client.get("/api/live").json() == []


def test_a_command_can_be_compared_with_other_agents(client: Client) -> None:
    found = checked(client, agents=[COMMAND, {"agent": "codex", "model": "ollama/x"}])["faults"]
    assert not [fault for fault in found if fault["agent"] == "command"]
    assert not any("after `--`" in fault["words"] for fault in found)


def test_a_folder_that_holds_the_store_or_keys_is_refused(client: Client, store: Store, tmp_path: Path) -> None:
    assert "holds the store" in faults(client, files="folder", folder=str(tmp_path))["folder"]
    connect(tmp_path / "other" / "store", "openai", "sk-other-0123456789")
    found = faults(client, files="folder", folder=str(tmp_path / "other"))["folder"]
    assert "connected keys" in found
    assert "sk-other" not in found


def test_an_agent_shall_not_see_what_it_is_graded_by(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ws" / "hidden").mkdir(parents=True)
    given = {
        "files": "folder",
        "folder": str(tmp_path / "ws"),
        "grader": "true",
        "grader_files": str(tmp_path / "ws/hidden"),
    }
    assert 'must not hold "files" of the grader' in faults(client, **given)["instructions"]


def test_without_a_token_nothing_is_looked_for_or_started(store: Store) -> None:
    client = inside(guard_of(store, access=Access(ACCESS.names, None, port=8710)))
    for address in ("/api/build", "/api/build/check"):
        status, found = said(client, address, **build())
        assert status == 400
        assert "--no-token" in found["detail"]
    assert "nothing can be started here" in page(client, "/build")


@pytest.mark.parametrize(
    "given", [{"attempts": 0}, {"attempts": 51}, {"more": 1}, {"agents": [{}]}, {"instructions": "x" * 200_001}]
)
def test_what_is_out_of_bounds_or_unknown_is_refused(client: Client, given: dict[str, Any]) -> None:
    assert said(client, "/api/build/check", **build(**given))[0] == 400


@pytest.mark.parametrize(
    "field", ["instructions", "name", "folder", "git", "commit", "image", "grader", "context", "command", "model"]
)
def test_half_a_character_is_no_bug_wherever_it_stands(client: Client, field: str) -> None:
    """Such a text is no Unicode: JSON may spell it, and no file can hold it."""
    files = field if field in ("folder", "git") else "git" if field == "commit" else "none"
    body = msgspec.json.encode(build(files=files) | {field: "SURROGATE"}).replace(b"SURROGATE", rb"x\\ud800y")
    for address in ("/api/build/check", "/api/build"):
        answer = client.post(address, content=body)
        assert answer.status_code in (200, 400), answer.text


# --- the same by hand


def test_the_task_that_is_shown_is_the_task_that_a_file_of_it_gives(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "hidden").mkdir()
    found = checked(
        client,
        instructions="Two\nlines: with `signs` and ${task}",
        name="a task",
        files="folder",
        folder=str(tmp_path / "ws"),
        seconds=90,
        memory="2 GiB",
        requests=7,
        grader="pytest -q",
        grader_files=str(tmp_path / "hidden"),
        context="For the judge.",
    )
    assert found["faults"] == []
    (tmp_path / "task.yaml").write_text(found["task"])
    task = read_task(tmp_path / "task.yaml")
    assert (task.name, task.instructions, task.context) == (
        "a task",
        "Two\nlines: with `signs` and ${task}",
        "For the judge.",
    )
    assert (task.machine.folder, task.limits.seconds, task.limits.memory, task.limits.requests) == (
        tmp_path / "ws",
        90,
        2 << 30,
        7,
    )
    assert task.grader is not None
    assert (task.grader.run, task.grader.files) == ("pytest -q", tmp_path / "hidden")


def test_the_command_that_is_shown_has_all_that_was_chosen(client: Client) -> None:
    found = checked(
        client, attempts=2, jobs=2, keep=False, looks=9, budget=0.5, model="ollama/x", records=["out"], rubric=RUBRIC.hash
    )
    words = shlex.split(found["command"])
    assert words[:2] == ["adjudge", "run"]
    assert words[words.index("--") + 1 :] == ["sh", "-c", "echo made > made.txt"]
    pairs = {
        ("--agent", "command"),
        ("--attempts", "2"),
        ("--jobs", "2"),
        ("--looks", "9"),
        ("--budget", "0.5"),
        ("--record", "out"),
    }
    assert pairs <= set(pairwise(words))
    assert "--destroy" in words
    assert words[words.index("--rubric") + 1].endswith("rubric.yaml")


# --- what it may cost


def test_the_agents_cost_is_the_mean_of_its_earlier_runs_with_the_same_model(client: Client, store: Store) -> None:
    chosen = [{"agent": "codex", "model": "ollama/a"}]
    assert checked(client, agents=chosen)["agent"]["figure"] == "not known"
    for number, (model, cost) in enumerate((("ollama/a", 0.2), ("ollama/a", 0.4), ("ollama/b", 9.0))):
        run = make_run(make_record(user("x"), says(str(number))), agent="codex", model=model)
        store.add_run(msgspec.structs.replace(run, cost=cost))
    found = checked(client, agents=chosen, attempts=2)["agent"]
    assert found["figure"] == "$0.60", "two attempts at 30 cents"
    assert "2 earlier runs" in found["words"]
    both = [*chosen, {"agent": "codex", "model": "ollama/b"}]
    assert checked(client, agents=both)["agent"]["figure"] == "$9.30"


def test_what_judging_costs_is_told_from_earlier_judgments_by_the_same_model(tmp_path: Path) -> None:
    with sample.make(tmp_path / "sample") as store:
        client = inside(guard_of(store))
        rubric = sample.RUBRIC.hash
        assert checked(client, rubric=rubric)["judging"]["words"] == "No model is named to judge with."
        found = checked(client, rubric=rubric, model="ollama/never-asked")["judging"]
        assert (found["figure"], found["words"]) == ("not known", "This model has judged nothing here yet.")
        for row in [row for row in store.judgments() if row.rubric_hash == rubric and row.cost][:3]:
            judgment = store.judgment(row.id)
            judge = msgspec.structs.replace(judgment.judge, model="openrouter/maker/strong")
            store.add_judgment(msgspec.structs.replace(judgment, id=f"{row.id}b", judge=judge))
        found = checked(client, rubric=rubric, model="openrouter/maker/strong", budget=0.5)["judging"]
        assert found["figure"].startswith("$")
        assert "from 3 earlier judgments by this model" in found["words"]
        assert found["words"].endswith("Each judgment stops before $0.50.")


# --- starting it


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
async def test_an_agent_works_and_is_judged_and_the_job_leads_to_its_run(store: Store) -> None:
    async with working(store) as (client, guard):
        job = await ended(
            guard,
            await client.post(
                "/api/build",
                content=msgspec.json.encode(
                    build(command="sh -c 'echo \"<script>alert(1)</script>\"; echo made > made.txt'", rubric=RUBRIC.hash)
                ),
            ),
        )
        assert job.facts.failure is None
        steps = [step.words for step in job.steps]
        assert {"command, attempt 1: preparing", "command, attempt 1: working", "command, attempt 1: judging"} <= set(steps)
        assert "2 of 2 criteria passed" in steps[-1]
        assert any("<script>alert(1)</script>" in step.detail for step in job.steps)
        html = (await client.get(f"/live/{job.facts.id}")).text
        assert "&lt;script&gt;alert(1)" in html
        assert "<script>alert" not in html
        (run,) = store.runs()
        assert job.facts.href == f"/runs/{run.id}"
        assert (await client.get(job.facts.href)).status_code == 200
    made = store.run(run.id)
    task = Path(made.source)
    assert read_task(task).instructions == "Make made.txt.\nNothing else."
    assert read_rubric(task.parent / "rubric.yaml").hash == RUBRIC.hash
    assert store.folder is not None
    assert task.is_relative_to(store.folder / "tasks")
    assert os.stat(store.folder).st_mode & 0o077 == 0


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
async def test_where_nothing_can_be_kept_no_agent_is_started(store: Store, tmp_path: Path) -> None:
    refuse_blobs(tmp_path / "store" / "blobs")
    async with working(store) as (client, guard):
        job = await ended(guard, await client.post("/api/build", content=msgspec.json.encode(build())))
    assert job.facts.state == "failed"
    assert "blobs" in str(job.facts.failure)
    assert job.steps == []


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
async def test_each_look_at_what_an_agent_left_is_a_step(store: Store, serve: Serve) -> None:
    rubric = make_rubric("`made.txt` holds `made`.")
    keep_rubric(store, rubric)
    proven = decision(verdict("c1", True, ("L1", "made")))
    model = serve(lambda body: [("read_file", {"path": "made.txt"}) if len(body["messages"]) == 2 else ("decide", proven)])
    async with working(store, Settings(store=str(store.folder), model=model)) as (client, guard):
        content = msgspec.json.encode(build(rubric=rubric.hash))
        job = await ended(guard, await client.post("/api/build", content=content))
    steps = {step.words: step.detail for step in job.steps}
    looking = list(steps)[list(steps).index("command, attempt 1: judging") + 1 :]
    assert looking[:-1] == [
        "command, attempt 1: Question 1 is asked; 0 of at most 40 looks are used.",
        "command, attempt 1: Look 1 of at most 40: read_file  path made.txt",
        "command, attempt 1: Question 2 is asked; 1 of at most 40 looks are used.",
    ]
    assert steps[looking[1]].splitlines()[-1] == "made"
    assert "1 of 1 criterion passed" in looking[-1]


async def test_several_attempts_lead_to_the_comparison(store: Store) -> None:
    async with working(store) as (client, guard):
        content = msgspec.json.encode(build(attempts=2, rubric=RUBRIC.hash))
        job = await ended(guard, await client.post("/api/build", content=content))
    assert job.facts.href == f"/compare?rubric={RUBRIC.hash}"
    assert len(store.runs()) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("sandboxed")
async def test_without_a_rubric_only_the_process_counts(store: Store) -> None:
    async with working(store) as (client, guard):
        job = await ended(guard, await client.post("/api/build", content=msgspec.json.encode(build(command="false"))))
    assert job.facts.state == "done"
    (row,) = store.judgments()
    assert (row.rubric, row.score, row.passed) == (None, None, 0)


async def test_an_agent_that_cannot_be_made_to_work_fails_the_job_and_says_why(store: Store, tmp_path: Path) -> None:
    given = build(files="git", git=str(tmp_path), commit="main")
    async with working(store) as (client, guard):
        job = await ended(guard, await client.post("/api/build", content=msgspec.json.encode(given)))
    assert job.facts.state == "failed"
    assert str(tmp_path) in (job.facts.failure or "")


# --- the page


def test_the_page_offers_each_agent_and_rubric_and_says_what_none_means(client: Client) -> None:
    html = page(client, f"/build?rubric={RUBRIC.hash}")
    assert f'value="{RUBRIC.hash}" checked' in html
    assert 'name="rubric" value="none" checked' not in html
    assert "no evaluator looks, no key is needed, and no score is given" in text_of(html)
    assert 'name="rubric" value="none" checked' in page(client, "/build")
    assert html.count('data-as="agents"') == 7


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_hostile_of_a_task_or_a_rubric_comes_back_as_it_is(client: Client, store: Store, payload: str) -> None:
    criteria = (Criterion("c", f"It prints `{payload}`", CommandProbe("true")),)
    rubric = Rubric(payload, criteria, rubric_hash(criteria), "x.yaml")
    keep_rubric(store, rubric)
    assert "<script>alert" not in page(client, f"/build?rubric={rubric.hash}").replace("&lt;script", "")
    found = client.post("/api/build/check", content=msgspec.json.encode(build(instructions=payload, rubric=rubric.hash)))
    assert found.status_code == 200
    assert found.headers["content-type"] == "application/json"
    shown = [words for _, words in found.json()["happens"]]
    assert not any(letter in words for words in shown for letter in "\u202e\u200b\x1b\x07")
