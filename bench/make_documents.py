"""Synthetic recordings of OpenCode, mini-SWE-agent, ATIF and chat messages of any size, shaped as the tools write them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

LINES = "\n".join(
    f"src/module_{number}.py:{number * 7}: def handler_{number}(request): return render(request)" for number in range(400)
)
TASK = "The test suite of this repository fails. Find the bug, fix it, and run the tests."
MOMENT = 1795983075502

Items = Callable[[int], list[dict[str, Any]]]


def output(number: int) -> str:
    """What a command prints: mostly short, sometimes long, never the same."""
    length = 30_000 if number % 16 == 0 else 400 + number * 97 % 5_000
    return f"run {number}\n{LINES[number % 1000 :][:length]}"


def written(path: Path, size: int, before: str, items: Items, after: str, between: str = ",\n") -> None:
    """Write the items of step after step into a document until it has this many bytes."""
    done = 0
    with path.open("w") as file:
        file.write(before)
        for number in count():
            for item in items(number):
                done += file.write((between if done else "") + json.dumps(item))
            if done >= size:
                break
        file.write(after)


def opencode_parts(number: int) -> list[dict[str, Any]]:
    """The parts of one answer: a text, a call with its result, and what it consumed."""
    command, printed = f"grep -rn handler_{number} src", output(number)
    times = {"start": MOMENT + number, "end": MOMENT + number + 1}
    state = {
        "status": "completed",
        "input": {"command": command, "description": "Search"},
        "output": printed,
        "metadata": {"output": printed, "exit": 0, "truncated": False},
        "title": command,
        "time": times,
    }
    tokens = {"total": 1541, "input": 500, "output": 41, "reasoning": 0, "cache": {"read": 1000, "write": 0}}
    return [
        {"type": "step-start", "snapshot": "118098a8c46d00cd87306902c083bd340ed7a327"},
        {"type": "text", "text": f"I look for handler {number}.", "time": times},
        {"type": "tool", "tool": "bash", "callID": f"call_{number}", "state": state},
        {"type": "step-finish", "reason": "tool-calls", "tokens": tokens, "cost": 0},
    ]


def opencode_message(number: int) -> list[dict[str, Any]]:
    """A message of the agent; before the first the user's."""
    time = {"created": MOMENT + number}
    info = {"id": f"msg_{number:08}", "role": "assistant", "modelID": "scripted", "providerID": "local", "time": time}
    parts = [{**part, "id": f"prt_{number:08}{index}"} for index, part in enumerate(opencode_parts(number))]
    asked = {"info": {"id": "msg", "role": "user", "time": time}, "parts": [{"type": "text", "text": TASK, "id": "prt"}]}
    return [*([] if number else [asked]), {"info": info, "parts": parts}]


def opencode_export(path: Path, size: int) -> None:
    """What `opencode export` prints."""
    info = json.dumps({"id": "ses_1", "title": "Fix", "version": "1.18.33", "directory": "/srv/repo"})
    written(path, size, f'{{"info": {info}, "messages": [', opencode_message, "]}")


def opencode_events(path: Path, size: int) -> None:
    """What `opencode run --format json` prints."""
    kinds = ("step_start", "text", "tool_use", "step_finish")

    def events(number: int) -> list[dict[str, Any]]:
        return [
            {
                "type": kind,
                "timestamp": MOMENT + number,
                "sessionID": "ses_1",
                "part": {**part, "id": f"prt_{number:08}{index}", "messageID": f"msg_{number:08}", "sessionID": "ses_1"},
            }
            for index, (kind, part) in enumerate(zip(kinds, opencode_parts(number), strict=True))
        ]

    written(path, size, "", events, "\n", "\n")


def opencode_store(path: Path, size: int) -> None:
    """A store with one session."""
    with closing(sqlite3.connect(path)) as store:
        store.execute("create table session (id primary key, parent_id, title, version, time_created)")
        store.execute("create table message (id primary key, session_id, time_created, data)")
        store.execute("create table part (id primary key, message_id, data)")
        store.execute("create index part_message on part (message_id, id)")
        store.execute("insert into session values ('ses_1', null, 'Fix', '1.18.33', 0)")
        done = 0
        for number in count():
            for message in opencode_message(number):
                key = message["info"].pop("id")
                data = json.dumps(message["info"])
                store.execute("insert into message values (?, 'ses_1', ?, ?)", (key, number, data))
                for part in message["parts"]:
                    name, text = part.pop("id"), json.dumps(part)
                    done += len(text)
                    store.execute("insert into part values (?, ?, ?)", (name, key, text))
            if done >= size:
                break
        store.commit()


def chat_messages(number: int) -> list[dict[str, Any]]:
    """A call and its result; before the first the task."""
    function = {"name": "bash", "arguments": json.dumps({"command": f"grep -rn handler_{number} src"})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        *([] if number else [{"role": "user", "content": TASK}]),
        {"role": "assistant", "content": f"I look for handler {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": output(number)},
    ]


def chat_object(path: Path, size: int) -> None:
    """One object with all messages."""
    written(path, size, '{"model": "m", "messages": [', chat_messages, "]}")


def chat_lines(path: Path, size: int) -> None:
    """A message a line."""
    written(path, size, "", chat_messages, "\n", "\n")


def mini_swe(path: Path, size: int) -> None:
    """A trajectory of format 1.1, with the response and the raw output repeated as it has them."""

    def messages(number: int) -> list[dict[str, Any]]:
        found = chat_messages(number)
        usage = {"prompt_tokens": 1500, "completion_tokens": 41, "prompt_tokens_details": {"cached_tokens": 1000}}
        choice = {"finish_reason": "tool_calls", "message": found[-2]}
        response = {"id": f"r{number}", "model": "m", "choices": [choice], "usage": usage}
        found[-2] = {**found[-2], "extra": {"response": response, "cost": 0.01, "timestamp": MOMENT / 1000 + number}}
        raw = {"raw_output": found[-1]["content"], "returncode": 0, "timestamp": MOMENT / 1000 + number}
        found[-1] = {**found[-1], "extra": raw}
        return found

    info = json.dumps({"mini_version": "2.4.6", "exit_status": "Submitted", "submission": ""})
    written(path, size, f'{{"info": {info}, "messages": [', messages, '], "trajectory_format": "mini-swe-agent-1.1"}')


def atif(path: Path, size: int) -> None:
    """A trajectory of version 1.6."""

    def steps(number: int) -> list[dict[str, Any]]:
        call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": f"grep -rn h_{number} src"}}
        metrics = {"prompt_tokens": 1500, "cached_tokens": 1000, "completion_tokens": 41, "cost_usd": 0.01}
        agents = {
            "step_id": number + 2,
            "timestamp": "2026-05-04T15:01:16.843Z",
            "source": "agent",
            "message": f"I look for handler {number}.",
            "tool_calls": [call],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": output(number)}]},
            "metrics": metrics,
        }
        return [*([] if number else [{"step_id": 1, "source": "user", "message": TASK}]), agents]

    agent = json.dumps({"name": "forge", "version": "2.4.1", "model_name": "m"})
    written(path, size, f'{{"schema_version": "ATIF-v1.6", "session_id": "s", "agent": {agent}, "steps": [', steps, "]}")


def harbor(path: Path, size: int) -> None:
    """A trial folder with a trajectory."""
    (path / "agent").mkdir(parents=True)
    atif(path / "agent" / "trajectory.json", size)
    (path / "config.json").write_text('{"trial_name": "t"}')
    (path / "result.json").write_text('{"trial_name": "t", "verifier_result": {"rewards": {"reward": 1.0}}}')


def run_folder(path: Path, size: int) -> None:
    """A run folder with a trajectory."""
    (path / "workspace").mkdir(parents=True)
    atif(path / "record.json", size)
    (path / "run.yaml").write_text("record: record.json\nworkspace: workspace\n")


GENERATORS: dict[str, Callable[[Path, int], None]] = {
    "opencode-export": opencode_export,
    "opencode-events": opencode_events,
    "opencode-store": opencode_store,
    "mini-swe-agent": mini_swe,
    "atif": atif,
    "harbor": harbor,
    "run-folder": run_folder,
    "chat-object": chat_object,
    "chat-lines": chat_lines,
}
