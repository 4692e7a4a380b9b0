"""`adjudge run` as a user types it: what its options do, and which key its agents and its judge use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web
from tests.agents.scripted_endpoint import Script, Step, scripted
from tests.agents.started import PYTHON, STORE, Ran, adjudge_run, stored_run, write_task
from tests.cli.conftest import Script as Plays
from tests.cli.conftest import serve
from tests.machines.conftest import sandboxed
from tests.store.conftest import refuse_blobs

from adjudge.connected import connect
from adjudge.store.store import open_store
from adjudge.testing import decision, verdict

__all__ = ["sandboxed", "serve"]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("sandboxed")]

KEY = "sk-connected-4d1c9a7e"
ASK = """
import json, os, sys, urllib.error, urllib.request
for path in sys.argv[3:]:
    body = {"model": sys.argv[2], "messages": [{"role": "user", "content": sys.argv[1]}], "tools": [
        {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}]}
    request = urllib.request.Request(os.environ["URL"] + path, json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["KEY"]})
    try:
        print(json.load(urllib.request.urlopen(request, timeout=60))["choices"][0]["message"]["content"])
    except urllib.error.HTTPError as error:
        print(error)
"""
"""An agent that asks its model one thing at each of these paths, and prints the answers."""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A task with an empty workspace."""
    return write_task(tmp_path, name="t")


async def ran(task: Path, *words: object) -> Ran:
    """A command that prints a line and makes a file, judged by its process alone."""
    command = "echo hello from inside; echo made > made.txt"
    return await adjudge_run(
        *(task, "--agent", "command", "--rubric", "none", *words, "--", "sh", "-c", command), folder=task.parent
    )


def write_agent(folder: Path, *paths: str) -> Path:
    """A connection to the agent that asks at these paths."""
    connection = {
        "program": PYTHON,
        "speaks": "chat",
        "arguments": ["-c", ASK, "${task}", "${model}", *paths],
        "environment": {"URL": "${url}", "KEY": "${key}"},
        "version": [],
    }
    (folder / "asking.yaml").write_bytes(msgspec.json.encode(connection))
    return folder / "asking.yaml"


# --- what is kept and what is printed


async def test_the_workspace_is_kept_as_it_was_left(task: Path) -> None:
    result = (await ran(task, "--json")).result()
    assert result.workspace is not None
    assert (Path(result.workspace) / "made.txt").read_text() == "made\n"
    assert Path(result.workspace).is_relative_to(task.parent / STORE / "workspaces")


async def test_where_nothing_can_be_kept_no_agent_is_started(task: Path) -> None:
    with open_store(task.parent / STORE) as store:
        store.require_blobs()
    refuse_blobs(task.parent / STORE / "blobs")
    ended = await ran(task, "--verbose")
    assert (ended.status, ended.out) == (3, "")
    assert "blobs" in ended.err
    assert "started" not in ended.err
    assert "hello from inside" not in ended.err


async def test_destroy_keeps_no_workspace_but_the_run_its_record_and_its_patch(task: Path) -> None:
    result = (await ran(task, "--json", "--destroy")).result()
    run = stored_run(task.parent, result)
    assert (result.workspace, run.workspace) == (None, None)
    assert not (task.parent / STORE / "workspaces").exists()
    assert "hello from inside" in "".join(entry.text for entry in run.record.entries)
    assert "+made" in (run.patch or "")


async def test_where_there_is_no_terminal_a_line_tells_that_an_attempt_began_and_one_how_it_ended(task: Path) -> None:
    first, second, *_ = (await ran(task)).err.splitlines()
    assert first == "t · command · 1: started"
    assert second.startswith("t · command · 1: exit status 0")


async def test_verbose_prints_each_stage_and_what_the_agent_prints(task: Path) -> None:
    lines = (await ran(task, "--verbose")).err.splitlines()
    stages = ["preparing", "working", "hello from inside", "collecting", "judging"]
    assert lines[: len(stages)] == [f"t · command · 1: {stage}" for stage in stages]
    assert "hello from inside" not in (await ran(task)).err


async def test_verbose_prints_each_look_of_the_judge(task: Path, serve: Callable[[Plays], str]) -> None:
    (task.parent / "rubric.yaml").write_text("criteria:\n  - id: c1\n    text: made.txt holds made.\n")
    proven = decision(verdict("c1", True, ("L1", "made")))
    model = serve(lambda body: [("read_file", {"path": "made.txt"}) if len(body["messages"]) == 2 else ("decide", proven)])
    given = ("--verbose", "--rubric", task.parent / "rubric.yaml", "--model", model)
    lines = (await ran(task, *given)).err.splitlines()
    assert "t · command · 1: Look 1 of at most 40: read_file  path made.txt" in lines


# --- how many at a time


@asynccontextmanager
async def meeting_point(expected: int) -> AsyncIterator[tuple[str, list[int]]]:
    """A model that answers once so many have asked at the same time; gives its URL, and how many were waiting each time."""
    together, waiting, counts = asyncio.Event(), [0], list[int]()

    async def answer(request: web.Request) -> web.Response:
        waiting[0] += 1
        counts.append(waiting[0])
        if waiting[0] == expected:
            together.set()
        try:
            await asyncio.wait_for(together.wait(), 60)
        finally:
            waiting[0] -= 1
        message = {"role": "assistant", "content": "Done."}
        return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1", counts
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(("jobs", "counts"), [(1, [1, 1, 1]), (3, [1, 2, 3])])
async def test_so_many_attempts_are_under_way_at_a_time(task: Path, jobs: int, counts: list[int]) -> None:
    agent = write_agent(task.parent, "/chat/completions")
    async with meeting_point(jobs) as (url, seen):
        words = (task, "--agent", f"{agent}={url}#m", "--rubric", "none", "--attempts", 3, "--jobs", jobs, "--json")
        results = (await adjudge_run(*words, folder=task.parent)).results()
    assert [result.outcome.failure for result in results if result.outcome] == [None, None, None]
    assert seen == counts


# --- keys and requests


async def test_one_connected_key_serves_the_agent_and_the_judge(task: Path) -> None:
    verdict = {"criterion": "c1", "verdict": "fail", "note": "Nothing was done.", "cause": "unproven", "citations": []}
    judge = Script((Step(calls=(("decide", {"verdicts": [verdict], "summary": "Nothing."}),)),), model="judge")
    (task.parent / "rubric.yaml").write_text("- {id: c1, text: made.txt is there.}\n")
    connect(str(task.parent / STORE), "openai", KEY)
    agent = write_agent(task.parent, "/chat/completions")
    async with scripted([Script((Step("Done."),), model="worker"), judge]) as endpoint:
        words = (task, "--agent", f"{agent}=openai/worker", "--rubric", "rubric.yaml", "--model", "openai/judge", "--json")
        environment = {"OPENAI_BASE_URL": f"{endpoint.url}/v1"}
        result = (await adjudge_run(*words, folder=task.parent, environment=environment)).result()
        keys = {(asked.question.model, asked.key) for asked in endpoint.requests}
    assert (result.status, result.score) == ("judged", 0.0), result.error
    assert keys == {("worker", KEY), ("judge", KEY)}


async def test_a_request_that_is_not_the_models_business_is_refused_and_the_run_says_so(task: Path) -> None:
    agent = write_agent(task.parent, "/files", "/chat/completions")
    async with scripted([Script((Step("Done."),))]) as endpoint:
        words = (task, "--agent", f"{agent}={endpoint.url}/v1#worker", "--rubric", "none", "--json")
        result = (await adjudge_run(*words, folder=task.parent)).result()
    assert result.notes == ("of the agent's requests 1 was refused: not its model's business, or malformed",)
    assert endpoint.unknown == []
