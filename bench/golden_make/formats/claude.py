"""Claude Code's session file and its stream-json. Bases: claude/failcmd and claude/fix, recorded with version 2.1.197."""

from __future__ import annotations

import copy
import json
from typing import Any

from bench.golden_make.formats.common import Ids, hunks, iso, lines, numbered, replaced, rows
from bench.golden_make.steps import Done, Edit, Played, Read, Recorded, Shell

SESSION = "claude/claude-failcmd/77f171b8-8e30-4dca-83da-3d9552901df8.jsonl"
STREAM = "claude/claude-fix.stdout"
EDITED = "The file {} has been updated successfully. (file state is current in your context — no need to Read it back)"


class Session:
    """The session file."""

    BASE, NAME, FILE = SESSION, "claude-code", "record.jsonl"

    @staticmethod
    def render(recorded: Recorded) -> str:
        """The session as JSON lines."""
        ids, base = Ids(recorded), rows(SESSION)
        base = replaced(base, "/home/agent/w/claude-failcmd/repo", recorded.root)
        base = replaced(base, base[0]["sessionId"], ids.uuid())
        base = replaced(base, base[0]["content"], recorded.story.task)
        written = base[:5]
        started = recorded.turns[0].asked
        for row in written:
            row["timestamp"] = iso(started - 0.1)
        _chain(written[2:], ids, None)
        for turn in recorded.turns:
            written += _session_rows(base, turn, recorded, ids, written[-1]["uuid"])
        return lines([*written, base[-1] | {"leafUuid": written[-1]["uuid"]}])


class Stream:
    """What `claude -p --output-format stream-json` prints; the task is not in it."""

    BASE, NAME, FILE = STREAM, "claude-stream-json", "record.jsonl"

    @staticmethod
    def render(recorded: Recorded) -> str:
        """The stream as JSON lines."""
        ids, base = Ids(recorded), rows(STREAM)
        base = replaced(base, "/home/agent/w/claude-fix/repo", recorded.root)
        base = replaced(base, "/home/agent/w/claude-fix/home", "/home/dev")
        base = replaced(base, "-home-agent-w-claude-fix-re", f"-workspace-{recorded.story.name}")
        base = replaced(base, base[0]["session_id"], ids.uuid())
        base = replaced(base, "claude-sonnet-4-5", recorded.story.model)
        answer, result = base[3], next(row for row in base if row["type"] == "user")
        written = [base[0]]
        for turn in recorded.turns:
            told, returned = _messages(turn, recorded, ids)
            for message in told:
                usage = _usage(turn) | {"output_tokens": 1}
                envelope = answer["message"] | message | {"stop_reason": None, "usage": usage}
                written.append(answer | {"message": envelope, "uuid": ids.uuid()})
            for message, extra in returned:
                row = {"message": message, "uuid": ids.uuid(), "timestamp": iso(turn.ended), "tool_use_result": extra}
                written.append(result | row)
        return lines([*written, _summary(base[-1], recorded, ids)])


def _session_rows(
    base: list[dict[str, Any]], turn: Played, recorded: Recorded, ids: Ids, parent: str
) -> list[dict[str, Any]]:
    answer, result = base[5], base[7]
    told, returned = _messages(turn, recorded, ids)
    written = [
        copy.deepcopy(answer)
        | {"message": answer["message"] | message | {"usage": answer["message"]["usage"] | _usage(turn)}}
        for message in told
    ]
    for row in written:
        row["timestamp"] = iso(turn.answered)
    last = len(written)
    for message, extra in returned:
        written.append(result | {"message": message, "toolUseResult": extra, "timestamp": iso(turn.ended)})
    _chain(written, ids, parent)
    for row in written[last:]:
        row["sourceToolAssistantUUID"] = written[last - 1]["uuid"]
    return written


def _chain(written: list[dict[str, Any]], ids: Ids, parent: str | None) -> None:
    """Give the rows their ids, each the child of the one before."""
    for row in written:
        row["parentUuid"], row["uuid"] = parent, ids.uuid()
        parent = row["uuid"]


def _usage(turn: Played) -> dict[str, int]:
    return {
        "input_tokens": turn.prompt - turn.cached,
        "cache_read_input_tokens": turn.cached,
        "cache_creation_input_tokens": 0,
        "output_tokens": turn.output,
    }


def _messages(turn: Played, recorded: Recorded, ids: Ids) -> tuple[list[dict[str, Any]], list[tuple[dict[str, Any], Any]]]:
    """The pieces of the model's answer, one message each, and the results with what the harness keeps beside them."""
    envelope = {
        "id": f"msg_{ids.letters(24)}",
        "model": recorded.story.model,
        "stop_reason": "tool_use" if turn.done else "end_turn",
    }
    pieces: list[dict[str, Any]] = [{"type": "text", "text": turn.say}] if turn.say else []
    returned = []
    for done in turn.done:
        key = f"toolu_{ids.letters(24)}"
        name, given, shown, kept = _tool(done, recorded.root)
        pieces.append({"type": "tool_use", "id": key, "name": name, "input": given})
        content: dict[str, Any] = {"tool_use_id": key, "type": "tool_result", "content": shown}
        if name == "Bash":
            content["is_error"] = bool(done.status)
        returned.append(({"role": "user", "content": [content]}, kept))
    return [envelope | {"content": [piece]} for piece in pieces], returned


def _tool(done: Done, root: str) -> tuple[str, dict[str, Any], str, Any]:
    """A tool's name, its input, what the model is shown, and what the harness keeps."""
    match done.action:
        case Shell(command):
            output = done.output.rstrip("\n")
            if done.status:
                shown = f"Exit code {done.status}\n{output}".rstrip("\n")
                return "Bash", _command(command), shown, f"Error: {shown}"
            kept = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
            return "Bash", _command(command), output or "(Bash completed with no output)", kept
        case Read(path):
            text, place = done.output, f"{root}/{path}"
            count = text.count("\n") + 1
            file = {"filePath": place, "content": text, "numLines": count, "startLine": 1, "totalLines": count}
            return "Read", {"file_path": place}, numbered(text, "\t"), {"type": "text", "file": file}
        case Edit(path, old, new):
            place = f"{root}/{path}"
            given = {"replace_all": False, "file_path": place, "old_string": old, "new_string": new}
            kept = {"filePath": place, "oldString": old, "newString": new, "originalFile": done.before}
            rest = {"structuredPatch": _patch(done), "userModified": False, "replaceAll": False}
            return "Edit", given, EDITED.format(place), kept | rest


def _command(command: str) -> dict[str, str]:
    return {"command": command, "description": f"Run {' '.join(command.split()[:3])}"}


def _patch(done: Done) -> list[dict[str, Any]]:
    pieces: list[dict[str, Any]] = []
    for line in hunks(done, 3):
        if line.startswith("@@"):
            numbers = [int(number) for part in line.split()[1:3] for number in [*part[1:].split(","), "1"][:2]]
            pieces.append(dict(zip(("oldStart", "oldLines", "newStart", "newLines"), numbers, strict=True)) | {"lines": []})
        else:
            pieces[-1]["lines"].append(line)
    return pieces


def _summary(row: dict[str, Any], recorded: Recorded, ids: Ids) -> dict[str, Any]:
    """The row at the end of a stream, with the totals."""
    turns = recorded.turns
    sent, cached, output = (sum(getattr(turn, name) for turn in turns) for name in ("prompt", "cached", "output"))
    row = json.loads(json.dumps(row))
    row |= {"num_turns": len(turns), "result": turns[-1].say, "uuid": ids.uuid()}
    row |= {"duration_ms": int(1000 * (turns[-1].ended - turns[0].asked) + 900)}
    row |= {"duration_api_ms": int(1000 * sum(turn.answered - turn.asked for turn in turns))}
    row["usage"] |= {"input_tokens": sent - cached, "cache_read_input_tokens": cached, "output_tokens": output}
    cost = round((sent - cached) * 1e-6 + cached * 1e-7 + output * 5e-6, 6)
    row["total_cost_usd"] = cost
    used = {"inputTokens": sent - cached, "outputTokens": output, "cacheReadInputTokens": cached, "costUSD": cost}
    row["modelUsage"][recorded.story.model] |= used
    return row
