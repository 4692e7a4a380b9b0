"""mini-SWE-agent's trajectory. Base: mini/failcmd, recorded with mini-SWE-agent 2.4.6."""

from __future__ import annotations

import copy
import json
from typing import Any

from bench.golden_make.formats.common import Ids, document
from bench.golden_make.steps import Done, Played, Recorded, Shell

BASE = "mini/failcmd.traj.json"
NAME, FILE = "mini-swe-agent", "record.json"
SYSTEM = "You are an assistant that works in a shell. Answer with one command at a time."


def render(recorded: Recorded) -> str:
    """The trajectory as a JSON document."""
    base, ids = document(BASE), Ids(recorded)
    base["info"]["model_stats"]["api_calls"] = len(recorded.turns)
    config = base["info"]["config"]
    config["model"]["model_name"] = recorded.story.model
    config["agent"] |= {
        "output_path": "/home/dev/run.traj.json",
        "system_template": SYSTEM,
        "instance_template": "{{task}}",
    }
    config["model"] |= {"format_error_template": "{{error}}", "observation_template": "{{output}}"}
    answer, result, ending = base["messages"][2], base["messages"][3], base["messages"][-1]
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"Please solve this issue: {recorded.story.task}"},
    ]
    for number, turn in enumerate(recorded.turns):
        (done,) = turn.done
        key = f"call_{ids.hex(24)}"
        messages.append(_answer(copy.deepcopy(answer), turn, done, key, recorded.story.model, ids))
        messages.append(_result(copy.deepcopy(result), turn, done, key, number == len(recorded.turns) - 1))
    base["messages"] = [*messages, ending]
    return json.dumps(base, indent=1, ensure_ascii=False) + "\n"


def _answer(message: dict[str, Any], turn: Played, done: Done, key: str, model: str, ids: Ids) -> dict[str, Any]:
    assert isinstance(done.action, Shell)
    response = message["extra"]["response"]
    for holder in (message, response["choices"][0]["message"]):
        holder["content"] = turn.say
        (call,) = holder["tool_calls"]
        call["id"] = key
        call["function"]["arguments"] = json.dumps({"command": done.action.command})
    message["extra"]["actions"] = [{"command": done.action.command, "tool_call_id": key}]
    message["extra"]["timestamp"] = round(turn.answered, 6)
    response |= {"id": f"chatcmpl-{ids.hex(24)}", "created": int(turn.answered), "model": model.rpartition("/")[2]}
    response["usage"] |= {
        "completion_tokens": turn.output,
        "prompt_tokens": turn.prompt,
        "total_tokens": turn.prompt + turn.output,
        "prompt_tokens_details": {"cached_tokens": turn.cached},
    }
    return message


def _result(message: dict[str, Any], turn: Played, done: Done, key: str, last: bool) -> dict[str, Any]:
    """What came back; the action that submits was not executed."""
    output, status = ("", -1) if last else (done.output, done.status)
    fault = "action was not executed" if last else ""
    shown = f'{{\n  "returncode": {status},\n  "output": {_escaped(output)}'
    message["content"] = shown + (f', "exception_info": "{fault}"\n}}' if last else "\n}")
    message["extra"] |= {
        "raw_output": output,
        "returncode": status,
        "timestamp": round(turn.ended, 6),
        "exception_info": fault,
    }
    message["tool_call_id"] = key
    return message


def _escaped(text: str) -> str:
    """A JSON string as Jinja's filter `tojson` writes it."""
    shown = json.dumps(text)
    for sign in "<>&'":
        shown = shown.replace(sign, f"\\u{ord(sign):04x}")
    return shown
