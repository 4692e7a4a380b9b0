"""OpenCode's export. Base: opencode/sub, recorded with OpenCode 1.18.33, without the turn that calls a sub-agent."""

from __future__ import annotations

import copy
import json
from typing import Any

from bench.golden_make.formats.common import Ids, document, hunks, numbered
from bench.golden_make.steps import Done, Edit, Played, Read, Recorded, Shell

BASE = "opencode/sub.export.json"
NAME, FILE = "opencode", "record.json"


def render(recorded: Recorded) -> str:
    """The export as a JSON document."""
    return json.dumps(_Export(recorded).document, indent=1, ensure_ascii=False) + "\n"


class _Export:
    """Writes message after message; `document` is the whole."""

    def __init__(self, recorded: Recorded) -> None:
        base, self._ids, self._root = document(BASE), Ids(recorded), recorded.root
        self._recorded = recorded
        self._session = f"ses_{self._ids.hex(10)}ffe{self._ids.letters(14)}"
        self._snapshot = self._ids.hex(40)
        started = recorded.turns[0].asked
        base["info"] |= {"id": self._session, "title": "Sizes: kB and rounding", "directory": recorded.root}
        base["info"]["time"] = {"created": _ms(started - 1.4), "updated": _ms(recorded.turns[-1].ended)}
        self._answer = base["messages"][2]
        user = self._user(base["messages"][0], started - 1.1)
        self._parent = user["info"]["id"]
        base["messages"] = [user, *(self._message(turn) for turn in recorded.turns)]
        self.document = base

    def _user(self, message: dict[str, Any], time: float) -> dict[str, Any]:
        key = self._key("msg", time)
        provider, model = self._recorded.story.model.split("/")
        message["info"] |= {"id": key, "sessionID": self._session, "time": {"created": _ms(time)}}
        message["info"] |= {"model": {"providerID": provider, "modelID": model}, "summary": {"diffs": []}}
        (part,) = message["parts"]
        part |= {"text": json.dumps(self._recorded.story.task, ensure_ascii=False).replace("\\n", "\n")}
        part |= {"id": self._key("prt", time), "sessionID": self._session, "messageID": key}
        return message

    def _message(self, turn: Played) -> dict[str, Any]:
        message: dict[str, Any] = copy.deepcopy(self._answer)
        key = self._key("msg", turn.asked)
        provider, model = self._recorded.story.model.split("/")
        finish, used = "tool-calls" if turn.done else "stop", _tokens(turn)
        message["info"] |= {
            "id": key,
            "sessionID": self._session,
            "parentID": self._parent,
            "finish": finish,
            "tokens": used,
        }
        message["info"] |= {"path": {"cwd": self._root, "root": self._root}, "modelID": model, "providerID": provider}
        message["info"]["time"] = {"created": _ms(turn.asked), "completed": _ms(turn.ended)}
        parts: list[dict[str, Any]] = [{"snapshot": self._snapshot, "type": "step-start"}]
        if turn.say:
            parts.append(
                {"type": "text", "text": turn.say, "time": {"start": _ms(turn.answered - 0.4), "end": _ms(turn.answered)}}
            )
        parts += [self._tool(done, turn) for done in turn.done]
        files = sorted({f"{self._root}/{done.action.path}" for done in turn.done if isinstance(done.action, Edit)})
        before, self._snapshot = self._snapshot, self._ids.hex(40) if files else self._snapshot
        parts.append({"reason": finish, "snapshot": self._snapshot, "type": "step-finish", "tokens": used, "cost": 0})
        if files:
            parts.append({"type": "patch", "hash": before, "files": files})
        belongs = {"sessionID": self._session, "messageID": key}
        message["parts"] = [part | {"id": self._key("prt", turn.answered)} | belongs for part in parts]
        return message

    def _tool(self, done: Done, turn: Played) -> dict[str, Any]:
        name, given, output, metadata, title = _described(done, self._root)
        state = {"status": "completed", "input": given, "output": output, "metadata": metadata, "title": title}
        time = {"time": {"start": _ms(turn.answered), "end": _ms(turn.ended)}}
        return {"type": "tool", "tool": name, "callID": f"call_{self._ids.letters(24)}", "state": state | time}

    def _key(self, kind: str, time: float) -> str:
        """An id that sorts by time."""
        return f"{kind}_{_ms(time) * 4096 % 16**12:012x}001{self._ids.letters(13)}"


def _ms(time: float) -> int:
    return int(time * 1000)


def _tokens(turn: Played) -> dict[str, Any]:
    fresh = turn.prompt - turn.cached
    total, cache = turn.prompt + turn.output, {"write": 0, "read": turn.cached}
    return {"total": total, "input": fresh, "output": turn.output, "reasoning": 0, "cache": cache}


def _described(done: Done, root: str) -> tuple[str, dict[str, Any], str, dict[str, Any], str]:
    """A tool's name, input, output, what the harness keeps, and its title."""
    match done.action:
        case Shell(command):
            kept = {"output": done.output, "exit": done.status, "truncated": False}
            given = {"command": command, "description": f"Run {' '.join(command.split()[:3])}"}
            return "bash", given, done.output, kept, command.split("\n")[0]
        case Read(path):
            place, text = f"{root}/{path}", done.output.rstrip("\n")
            count = text.count("\n") + 1
            content = f"{numbered(text, ': ')}\n\n(End of file - total {count} lines)"
            shown = f"<path>{place}</path>\n<type>file</type>\n<content>\n{content}\n</content>"
            return "read", {"filePath": place}, shown, {"preview": text, "truncated": False, "loaded": []}, path
        case Edit(path, old, new):
            place, changed = f"{root}/{path}", hunks(done, 4)
            diff = "\n".join([f"Index: {place}", "=" * 67, f"--- {place}", f"+++ {place}", *changed, ""])
            counts = {sign: sum(line.startswith(sign) for line in changed) for sign in "+-"}
            filed = {"file": place, "patch": diff, "additions": counts["+"], "deletions": counts["-"]}
            kept = {"diagnostics": {}, "diff": diff, "filediff": filed, "truncated": False}
            given = {"filePath": place, "oldString": old, "newString": new}
            return "edit", given, "Edit applied successfully.", kept, path
