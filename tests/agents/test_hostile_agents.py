"""Agents that hang, fork, fill the disk or do nothing: each ends in time, with an outcome and a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from adjudge.agents.comparison import Result
from adjudge.run import Run
from adjudge.settings import AgentLimits

from .scripted_endpoint import Step, scripted
from .started import PYTHON, adjudge_run, processes_with, stored_run, write_task

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

IN_TIME = 60.0
"""Seconds after which an attempt that was bounded by a few of them is late."""


async def run_command(
    folder: Path, *command: str, files: dict[str, str] | None = None, **limits: float
) -> tuple[Result, Run]:
    """What comes of a command as an agent, without a rubric."""
    task = write_task(folder, files=files, limits={"seconds": 20} | limits)
    ran = await adjudge_run(task, "--agent", "command", "--rubric", "none", "--json", "--", *command, folder=folder)
    assert ran.seconds < IN_TIME
    result = ran.result()
    return result, stored_run(folder, result)


def texts(run: Run) -> str:
    """All that the record of a run says."""
    return "\n".join(entry.text for entry in run.record.walk())


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def failure(result: Result) -> Any:
    assert result.outcome is not None
    return result.outcome.failure


async def test_an_agent_that_hangs_is_stopped_at_its_time(tmp_path: Path) -> None:
    result, run = await run_command(tmp_path, "bash", "-c", "echo I think; sleep 86311", seconds=3)
    assert failure(result) == "time"
    assert result.seconds is not None
    assert 3 <= result.seconds < 10
    assert "I think" in texts(run)
    assert processes_with("sleep 86311") == []


async def test_an_agent_that_ignores_the_signal_to_end_is_killed(tmp_path: Path) -> None:
    hang = "trap '' TERM INT HUP; echo I stay; while :; do sleep 0.5; done"
    result, run = await run_command(tmp_path, "bash", "-c", hang, seconds=2)
    assert failure(result) == "time"
    assert result.seconds is not None
    assert 2 + AgentLimits().grace <= result.seconds < 20
    assert "I stay" in texts(run)


async def test_an_agent_that_forks_without_end_is_stopped(tmp_path: Path) -> None:
    bomb = "echo I divide; bomb() { bomb | bomb & }; bomb; sleep 86312"
    result, run = await run_command(tmp_path, "bash", "-c", bomb, processes=60)
    assert failure(result) == "processes"
    assert "I divide" in texts(run)
    assert processes_with("bomb() {") == []


async def test_an_agent_that_fills_the_disk_is_told_so(tmp_path: Path) -> None:
    fill = "echo I write; head -c 200M /dev/zero >big; echo status $?"
    result, run = await run_command(tmp_path, "bash", "-c", fill, disk=20 << 20)
    assert failure(result) == "disk"
    assert "I write" in texts(run)
    assert run.workspace is not None
    assert (Path(run.workspace) / "big").stat().st_size <= 20 << 20


async def test_an_agent_that_prints_a_gigabyte_is_stopped(tmp_path: Path) -> None:
    print_much = "echo I begin; yes 'a line that says nothing' | head -c 1G"
    result, run = await run_command(tmp_path, "bash", "-c", print_much)
    assert failure(result) == "output"
    assert "I begin" in texts(run)
    assert size_of(tmp_path) < 50 << 20


async def test_an_agent_that_takes_all_memory_is_stopped(tmp_path: Path) -> None:
    take = "print('I take', flush=True)\nkept = []\nwhile True: kept.append(bytearray(1 << 24))"
    result, run = await run_command(tmp_path, PYTHON, "-c", take, memory=200 << 20)
    assert failure(result) == "memory"
    assert "I take" in texts(run)


async def test_an_agent_that_kills_its_parent_and_everyone_else_harms_itself_alone(tmp_path: Path) -> None:
    kill = "echo I kill; kill -9 $PPID; kill -9 1; kill -9 -1; echo I am here"
    result, run = await run_command(tmp_path, "bash", "-c", kill)
    assert result.outcome is not None
    assert result.outcome.exit_status in (0, -9)
    assert "I kill" in texts(run)
    assert result.status == "judged"


async def test_an_agent_that_stops_its_parent_is_ended_in_time(tmp_path: Path) -> None:
    result, run = await run_command(tmp_path, "bash", "-c", "echo I stop; kill -STOP $PPID; kill -STOP $$", seconds=3)
    assert failure(result) == "time"
    assert "I stop" in texts(run)


async def test_an_agent_that_deletes_all_it_can_leaves_what_it_printed(tmp_path: Path) -> None:
    files = {"kept.txt": "a line\n"}
    wipe = "echo I wipe; rm -rf /workspace/* $HOME/* $HOME/.[a-z]* /tmp/* /workspace $HOME 2>/dev/null; exit 0"
    result, run = await run_command(tmp_path, "bash", "-c", wipe, files=files)
    assert result.outcome is not None
    assert (result.outcome.exit_status, failure(result)) == (0, None)
    assert "I wipe" in texts(run)
    assert run.patch is not None
    assert "-a line" in run.patch
    assert (tmp_path / "task-files/kept.txt").read_text() == "a line\n"


# --- agents with a model


ASK = """
import json, os, sys, urllib.error, urllib.request
body = {"model": sys.argv[2], "messages": [{"role": "user", "content": sys.argv[1]}], "tools": [
    {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}]}
request = urllib.request.Request(os.environ["URL"] + "/chat/completions", json.dumps(body).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["KEY"]})
try:
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
except urllib.error.HTTPError as error:
    print("My model refuses:", error.code)
"""
"""An agent that asks its model once, and ends with 0 whatever that says."""


def write_connection(folder: Path, *command: str, records: tuple[str, ...] = ()) -> Path:
    """A connection to a command that speaks chat completions."""
    connection = {
        "program": command[0],
        "speaks": "chat",
        "arguments": [*command[1:], "${task}", "${model}"],
        "environment": {"URL": "${url}", "KEY": "${key}"},
        "records": list(records),
        "version": [],
    }
    path = folder / "agent.yaml"
    path.write_bytes(msgspec.json.encode(connection))
    return path


async def run_agent(folder: Path, connection: Path, *steps: Step) -> tuple[Result, Run]:
    """What comes of an agent whose model plays these steps."""
    task = write_task(folder, limits={"seconds": 20})
    async with scripted(steps) as endpoint:
        agent = f"{connection}={endpoint.url}/v1#m"
        ran = await adjudge_run(task, "--agent", agent, "--rubric", "none", "--json", folder=folder)
    assert ran.seconds < IN_TIME
    result = ran.result()
    return result, stored_run(folder, result)


async def test_an_agent_that_asks_its_model_succeeds(tmp_path: Path) -> None:
    result, run = await run_agent(tmp_path, write_connection(tmp_path, PYTHON, "-c", ASK), Step("It is done."))
    assert result.outcome is not None
    assert (result.outcome.exit_status, failure(result), result.passed) == (0, None, 1)
    assert "It is done." in texts(run)


async def test_an_agent_that_ends_well_having_asked_its_model_nothing_has_failed(tmp_path: Path) -> None:
    connection = write_connection(tmp_path, "/usr/bin/true")
    result, _ = await run_agent(tmp_path, connection, Step("It is done."))
    assert result.outcome is not None
    assert (result.outcome.exit_status, failure(result)) == (0, "nothing")
    assert (result.status, result.passed) == ("judged", 0)


async def test_an_agent_that_ends_well_after_its_model_failed_has_failed(tmp_path: Path) -> None:
    connection = write_connection(tmp_path, PYTHON, "-c", ASK)
    result, run = await run_agent(tmp_path, connection, Step(status=400))
    assert result.outcome is not None
    assert (result.outcome.exit_status, failure(result)) == (0, "model")
    assert "400" in (result.outcome.detail or "")
    assert "My model refuses: 400" in texts(run)
    assert (result.status, result.passed) == ("judged", 0)


async def test_an_agent_that_deletes_its_record_is_known_by_what_it_printed(tmp_path: Path) -> None:
    covering = (
        ASK + "open(os.path.expanduser('~/record.json'), 'w').write('{}')\nos.remove(os.path.expanduser('~/record.json'))\n"
    )
    connection = write_connection(tmp_path, PYTHON, "-c", covering, records=("record.json",))
    result, run = await run_agent(tmp_path, connection, Step("It is done."))
    assert any("left no record" in note for note in result.notes)
    assert (run.record.format, "It is done." in texts(run)) == ("output", True)


async def test_attributes_of_the_agents_hide_nothing_from_the_patch(tmp_path: Path) -> None:
    hide = "echo '* -diff' > .gitattributes; echo another line > kept.txt"
    _, run = await run_command(tmp_path, "bash", "-c", hide, files={"kept.txt": "a line\n"})
    assert run.patch is not None
    assert "+another line" in run.patch
