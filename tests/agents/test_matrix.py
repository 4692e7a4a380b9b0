"""Two agents, three tasks, two attempts: one command runs, judges and compares them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from .scripted_endpoint import Billed, Script, Step, scripted
from .started import PYTHON, adjudge_run, stored_run, write_task

pytestmark = pytest.mark.slow

LOOP = """
import json, os, subprocess, sys, urllib.request
messages = [{"role": "user", "content": sys.argv[1]}]
tools = [{"type": "function", "function": {"name": "bash", "description": "Run a command.", "parameters": {
    "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}]
while len(messages) < 40:
    body = {"model": sys.argv[2], "messages": messages, "tools": tools}
    request = urllib.request.Request(os.environ["URL"] + "/chat/completions", json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["KEY"]})
    message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
    print(message["content"], flush=True)
    messages.append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        command = json.loads(call["function"]["arguments"])["command"]
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout})
"""
"""An agent as small as one can be: it asks, runs the commands that it is told, and asks again."""

SECRET = "sk-secret-of-the-matrix"
TASKS = ("apples", "pears", "plums")
RUBRIC = {
    "criteria": [
        {"id": "basket", "text": "basket.txt exists.", "probe": {"file": "basket.txt", "exists": True}},
        {"id": "full", "text": "basket.txt holds a line with `3`.", "probe": {"file": "basket.txt", "matches": "^3"}},
    ]
}


def steps(number: int) -> tuple[Step, ...]:
    """Put so many fruits into the basket, and say so."""
    put = Step("I put them in.", calls=(("bash", {"command": f"echo {number} >basket.txt"}),), billed=Billed(100, 0, 10))
    return (put, Step("They are in.", billed=Billed(150, 100, 5)))


SCRIPTS = (
    Script(steps(3), match="apples|pears", model="good"),
    Script(steps(3), match="plums"),
    Script(steps(2), match="apples", model="poor"),
    Script((Step("There are none.", billed=Billed(100, 0, 10)),), match="pears", model="poor"),
)
"""One agent fills every basket; the other fills one, puts too little into another, and leaves the third out."""


@pytest.fixture
def words(tmp_path: Path) -> list[object]:
    """The tasks, the agents without their models, and the rubric."""
    for agent in ("steady", "hasty"):
        connection = {
            "program": PYTHON,
            "speaks": "chat",
            "arguments": ["-c", LOOP, "${task}", "${model}"],
            "environment": {"URL": "${url}", "KEY": "${key}"},
            "version": [],
        }
        (tmp_path / f"{agent}.yaml").write_bytes(msgspec.json.encode(connection))
    (tmp_path / "rubric.yaml").write_bytes(msgspec.json.encode(RUBRIC))
    tasks = [write_task(tmp_path, f"Put three {fruit} into basket.txt.", fruit, {}) for fruit in TASKS]
    return [
        *tasks,
        "--agent",
        "./steady.yaml=openai/good",
        "--agent",
        "./hasty.yaml=openai/poor",
        "--rubric",
        "rubric.yaml",
    ]


async def test_a_matrix_is_run_judged_and_compared_with_one_command(tmp_path: Path, words: list[object]) -> None:
    async with scripted(SCRIPTS) as endpoint:
        environment = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": f"{endpoint.url}/v1"}
        ran = await adjudge_run(*words, "-k", 2, "-j", 2, "--json", folder=tmp_path, environment=environment, seconds=240)
        keys = {asked.key for asked in endpoint.requests}
    results = ran.results()
    assert ran.status == 1  # something failed
    assert Counter((result.task, result.agent) for result in results) == {
        (task, agent): 2 for task in TASKS for agent in ("steady", "hasty")
    }
    assert {result.status for result in results} == {"judged"}
    scores = {(result.task, result.agent): result.score for result in results}
    assert scores == {
        ("apples", "steady"): 1.0,
        ("pears", "steady"): 1.0,
        ("plums", "steady"): 1.0,
        ("apples", "hasty"): 0.5,
        ("pears", "hasty"): 0.0,
        ("plums", "hasty"): 1.0,
    }
    assert keys == {SECRET}
    assert sorted({result.attempt for result in results}) == [1, 2]
    assert len({result.run for result in results}) == len({result.judgment for result in results}) == 12
    assert "They are in." in "\n".join(entry.text for entry in stored_run(tmp_path, results[0]).record.entries)


async def test_a_matrix_prints_its_comparison(tmp_path: Path, words: list[object]) -> None:
    async with scripted(SCRIPTS) as endpoint:
        environment = {"OPENAI_API_KEY": SECRET, "OPENAI_BASE_URL": f"{endpoint.url}/v1", "COLUMNS": "200"}
        ran = await adjudge_run(*words, folder=tmp_path, environment=environment, seconds=240)
    lines = ran.out.splitlines()
    steady = next(line for line in lines if line.startswith("steady") and " 3 " in line)
    assert "1.00" in steady
    assert all(task in ran.out for task in TASKS)
    assert SECRET not in ran.out + ran.err
