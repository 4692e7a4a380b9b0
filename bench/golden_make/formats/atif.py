"""An ATIF trajectory of Gemini CLI, with one step for each answer, as the format's RFC 0001 describes it.

Base: gemini/failcmd, recorded with Gemini CLI 0.61.0. Its session file has other envelopes; names, arguments and results
of the tools are as they stand there.
"""

from __future__ import annotations

import json
from typing import Any

from bench.golden_make.formats.common import Ids, iso
from bench.golden_make.steps import Done, Edit, Played, Read, Recorded, Shell

BASE = "gemini/failcmd (which is not in this repository)"
NAME, FILE = "atif", "record.json"


def render(recorded: Recorded) -> str:
    """The trajectory as a JSON document."""
    ids, turns = Ids(recorded), recorded.turns
    first = {"step_id": 1, "timestamp": iso(turns[0].asked), "source": "user", "message": recorded.story.task}
    steps = [_step(number, turn, recorded, ids) for number, turn in enumerate(turns, 2)]
    total = {name: sum(getattr(turn, name) for turn in turns) for name in ("prompt", "output", "cached")}
    trajectory = {
        "schema_version": "ATIF-v1.6",
        "session_id": ids.uuid(),
        "agent": {"name": "gemini-cli", "version": "0.61.0", "model_name": recorded.story.model},
        "steps": [first, *steps],
        "final_metrics": {
            "total_prompt_tokens": total["prompt"],
            "total_completion_tokens": total["output"],
            "total_cached_tokens": total["cached"],
            "total_steps": len(steps) + 1,
        },
    }
    return json.dumps(trajectory, indent=1, ensure_ascii=False) + "\n"


def _step(number: int, turn: Played, recorded: Recorded, ids: Ids) -> dict[str, Any]:
    step: dict[str, Any] = {
        "step_id": number,
        "timestamp": iso(turn.answered),
        "source": "agent",
        "model_name": recorded.story.model,
        "message": turn.say,
    }
    calls, results = [], []
    for place, done in enumerate(turn.done):
        name, arguments, output = _tool(done, recorded.root, ids)
        key = f"{name}__{ids.hex(12)}_{place}"
        calls.append({"tool_call_id": key, "function_name": name, "arguments": arguments})
        results.append({"source_call_id": key, "content": output})
    if calls:
        step |= {"tool_calls": calls, "observation": {"results": results}}
    metrics = {"prompt_tokens": turn.prompt, "completion_tokens": turn.output, "cached_tokens": turn.cached}
    return step | {"metrics": metrics}


def _tool(done: Done, root: str, ids: Ids) -> tuple[str, dict[str, Any], str]:
    """A tool's name, its arguments, and what it returned."""
    match done.action:
        case Shell(command):
            output = done.output.rstrip("\n") or "(empty)"
            status = f"Exit Code: {done.status}\n" if done.status else ""
            group = f"Process Group PGID: {ids.number(2000, 9000)}"
            shown = f"<untrusted_context>\nOutput: {output}\n{status}{group}\n</untrusted_context>"
            return "run_shell_command", {"command": command}, shown
        case Read(path):
            return "read_file", {"file_path": f"{root}/{path}"}, done.output
        case Edit(path, old, new):
            place = f"{root}/{path}"
            arguments = {"file_path": place, "instruction": f"Update {path}.", "old_string": old, "new_string": new}
            shown = "\n".join(done.after.split("\n")[:8])
            told = f"Successfully modified file: {place} (1 replacements). Here is the updated code:\n{shown}"
            return "replace", arguments, told
