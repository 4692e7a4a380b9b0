"""Codex's rollout. Base: codex/failcmd, recorded with Codex 0.171.0."""

from __future__ import annotations

import copy
import json
from typing import Any

from bench.golden_make.formats.common import Ids, hunks, iso, lines, replaced, rows
from bench.golden_make.play import tokens
from bench.golden_make.steps import Done, Edit, Played, Recorded, Shell

BASE = "codex/codex-failcmd/rollout-2026-11-29T19-52-57-01a228de-290c-7882-a978-f6f48eeaee59.jsonl"
NAME, FILE = "codex-rollout", "record.jsonl"
TASK = "The test suite of this repository fails. Find the bug in tally/stats.py, fix it, and run the tests."


def render(recorded: Recorded) -> str:
    """The rollout as JSON lines."""
    return lines(_Rollout(recorded).written)


class _Rollout:
    """Writes row after row; `written` has them all."""

    def __init__(self, recorded: Recorded) -> None:
        self.written: list[dict[str, Any]] = []
        self._ids = Ids(recorded)
        self._root = recorded.root
        self._sequence = 3
        self._totals = {"input_tokens": 0, "cached_input_tokens": 0, "output_tokens": 0}
        self._base = self._prepared(recorded)
        started = recorded.turns[0].asked
        for row in self._base[:9]:
            self._write(row, started)
        for turn in recorded.turns:
            self._turn(turn)
        self._end(recorded, started)

    def _prepared(self, recorded: Recorded) -> list[dict[str, Any]]:
        """The base with this run's ids, folder, model, task and times."""
        base, start = rows(BASE), recorded.turns[0].asked
        session, turn = base[0]["payload"]["id"], base[1]["payload"]["turn_id"]
        for old, new in (
            (session, self._ids.uuid7(start - 0.03)),
            (turn, self._ids.uuid7(start)),
            ("/home/agent/w/codex-failcmd/repo", recorded.root),
            (TASK, recorded.story.task),
            ("gpt-5.5", recorded.story.model),
            ("2026-11-29", iso(start)[:10]),
        ):
            base = replaced(base, old, new)
        base[0]["payload"]["timestamp"] = iso(start - 0.03)
        base[1]["payload"]["started_at"] = int(start)
        for row in (base[2], base[3], base[7]):
            row["payload"]["internal_chat_message_metadata_passthrough"]["create_time"] = start
            row["payload"]["id"] = f"msg_{self._ids.uuid7(start)}"
        base[8]["payload"] |= {"started_at_ms": int(start * 1000), "completed_at_ms": int(start * 1000)}
        base[8]["payload"]["item"]["id"] = self._ids.uuid7(start)
        kept = base[7]["metadata"]["retained_source"]
        kept["id"]["message_id"], kept["revision"] = base[7]["payload"]["id"], f"retained_{self._ids.uuid7(start)}"
        return base

    def _write(self, row: dict[str, Any], time: float) -> None:
        row = copy.deepcopy(row) | {"timestamp": iso(time), "ordinal": len(self.written)}
        if row["type"] == "response_item" and len(self.written) > 8:
            self._sequence += 1
            row["metadata"]["history_sequence"] = self._sequence
        self.written.append(row)

    def _turn(self, turn: Played) -> None:
        sampled = self._sequence
        if turn.say:
            self._said(turn, sampled)
        keys = [f"call_{self._ids.letters(24)}" for _ in turn.done]
        for key, done in zip(keys, turn.done, strict=True):
            self._called(key, done, turn.answered, sampled)
        self._used(turn)
        for key, done in zip(keys, turn.done, strict=True):
            self._returned(key, done, turn, sampled)
        count = copy.deepcopy(self._base[15])
        count["payload"]["info"] |= {"total_token_usage": self._total(), "last_token_usage": _usage(turn)}
        self._write(count, turn.ended)

    def _said(self, turn: Played, sampled: int) -> None:
        key = f"msg_{self._ids.hex(32)}"
        shown, message = copy.deepcopy(self._base[9]), copy.deepcopy(self._base[10])
        shown["payload"]["item"] |= {"id": key, "content": [{"type": "Text", "text": turn.say}]}
        shown["payload"] |= {"started_at_ms": int(turn.answered * 1000), "completed_at_ms": int(turn.answered * 1000)}
        self._write(shown, turn.answered)
        message["payload"] |= {"id": key, "content": [{"type": "output_text", "text": turn.say, "annotations": []}]}
        kept = message["metadata"]["retained_source"]
        kept["id"]["message_id"], kept["revision"] = key, f"retained_{self._ids.uuid7(turn.answered)}"
        message["metadata"]["sampled_through_sequence"] = sampled
        self._write(message, turn.answered)

    def _called(self, key: str, done: Done, time: float, sampled: int) -> None:
        if isinstance(done.action, Edit):
            row = copy.deepcopy(self._base[39])
            row["payload"]["input"] = _patch(done.action)
        else:
            assert isinstance(done.action, Shell)
            row = copy.deepcopy(self._base[11])
            row["payload"]["arguments"] = json.dumps({"cmd": done.action.command, **_patience(done.action.command)})
        row["payload"] |= {"id": f"fc_{self._ids.hex(32)}", "call_id": key}
        row["metadata"]["sampled_through_sequence"] = sampled
        self._write(row, time)

    def _used(self, turn: Played) -> None:
        for name, value in _usage(turn).items():
            if name in self._totals:
                self._totals[name] += value
        row = copy.deepcopy(self._base[12])
        totals = {"usage": _usage(turn), "turn_token_usage": self._total(), "thread_token_usage": self._total()}
        row["payload"] |= {"response_id": f"resp_{self._ids.hex(32)}", **totals}
        self._write(row, turn.answered)

    def _total(self) -> dict[str, int]:
        sent, cached, output = self._totals.values()
        return _counts(sent, cached, output)

    def _returned(self, key: str, done: Done, turn: Played, sampled: int) -> None:
        ended = turn.ended
        if isinstance(done.action, Edit):
            ran, result = copy.deepcopy(self._base[41]), copy.deepcopy(self._base[42])
            told = f"Success. Updated the following files:\nM {done.action.path}\n"
            change = {"type": "update", "unified_diff": "\n".join(hunks(done, 1)) + "\n", "move_path": None}
            ran["payload"]["item"] |= {"id": key, "changes": {f"{self._root}/{done.action.path}": change}, "stdout": told}
            result["payload"]["output"] = f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{told}"
        else:
            assert isinstance(done.action, Shell)
            ran, result = copy.deepcopy(self._base[13]), copy.deepcopy(self._base[14])
            ran["payload"]["item"] |= self._execution(key, done, done.action.command, ended - turn.answered)
            result["payload"]["output"] = (
                f"Chunk ID: {self._ids.hex(6)}\nWall time: {ended - turn.answered:.4f} seconds\n"
                f"Process exited with code {done.status}\nOriginal token count: {tokens(done.output)}\n"
                f"Output:\n{done.output}"
            )
        ran["payload"] |= {"started_at_ms": int(ended * 1000), "completed_at_ms": int(ended * 1000)}
        self._write(ran, ended)
        result["payload"] |= {"id": f"fco_{self._ids.uuid7(ended)}", "call_id": key}
        result["payload"]["internal_chat_message_metadata_passthrough"]["create_time"] = ended
        result["metadata"]["sampled_through_sequence"] = sampled
        self._write(result, ended)

    def _execution(self, key: str, done: Done, command: str, lasted: float) -> dict[str, Any]:
        return {
            "id": key,
            "process_id": str(self._ids.number(10000, 60000)),
            "command": ["/bin/bash", "-lc", command],
            "parsed_cmd": [{"type": "unknown", "cmd": command}],
            "status": "failed" if done.status else "completed",
            "aggregated_output": done.output,
            "exit_code": done.status,
            "duration": {"secs": int(lasted), "nanos": int(lasted % 1 * 1e9)},
        }

    def _end(self, recorded: Recorded, started: float) -> None:
        last = recorded.turns[-1]
        row = copy.deepcopy(self._base[-1])
        row["payload"] |= {
            "last_agent_message": last.say,
            "started_at": int(started),
            "completed_at": int(last.ended),
            "duration_ms": int(1000 * (last.ended - started)),
            "time_to_first_token_ms": self._ids.number(500, 1100),
        }
        self._write(row, last.ended)


def _patience(command: str) -> dict[str, int]:
    return {"yield_time_ms": 150_000} if "sleep" in command else {}


def _patch(edit: Edit) -> str:
    body = [f"-{line}" for line in edit.old.splitlines()] + [f"+{line}" for line in edit.new.splitlines()]
    return "\n".join(["*** Begin Patch", f"*** Update File: {edit.path}", "@@", *body, "*** End Patch", ""])


def _usage(turn: Played) -> dict[str, int]:
    return _counts(turn.prompt, turn.cached, turn.output)


def _counts(sent: int, cached: int, output: int) -> dict[str, int]:
    return {
        "input_tokens": sent,
        "cached_input_tokens": cached,
        "cache_write_input_tokens": 0,
        "output_tokens": output,
        "reasoning_output_tokens": 0,
        "total_tokens": sent + output,
    }
