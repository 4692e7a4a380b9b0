"""Reading `run.yaml`: every key checked, every path resolved, every fault named with its place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeVar, get_args

import msgspec
import yaml

from adjudge.errors import InputError
from adjudge.run import Grade, Outcome, RunFailure

LARGEST = 1 << 20
"""Bytes of a `run.yaml`."""

LONGEST = 64 << 20
"""Bytes of a task, a context or a patch."""

OUTCOME = ("exit_status", "grade", "reward", "detail", "failure")
GRADES = get_args(Grade)
FAILURES = get_args(RunFailure)

KEYS = (
    "task",
    "agent",
    "agent_version",
    "model",
    "outcome",
    "context",
    "record",
    "workspace",
    "machine",
    "patch",
    "fail_to_pass",
    "absent_at_base",
    "gold_patch",
)
"""What a `run.yaml` may say; the last is dropped unread."""

T = TypeVar("T")


class Description(msgspec.Struct, frozen=True):
    """What a run folder says of its run; `record` and `workspace` exist."""

    task: str | None = None
    agent: str | None = None
    agent_version: str | None = None
    model: str | None = None
    outcome: Outcome = Outcome()
    context: str | None = None
    record: Path | None = None
    workspace: Path | None = None
    machine: str | None = None
    patch: str | None = None
    hidden_tests: tuple[str, ...] = ()


def read_description(path: Path) -> Description:
    """The contents of a `run.yaml`.

    Raises:
        InputError: it is no YAML, has an unknown key, a value of the wrong kind or a file that is missing.
    """
    return _Reader(path, _parsed(path)).description()


def _parsed(path: Path) -> dict[Any, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path}: is larger than {LARGEST} bytes; long texts belong into files that it names")
        value = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    except (yaml.YAMLError, ValueError) as error:  # a ValueError for a date such as 2026-13-45
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise InputError(f"{path}: {where}is not YAML: {getattr(error, 'problem', None) or error}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: must be a mapping of keys such as task and record, got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    """A value as it stood in the file, if that is short."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 80 else f"{words[:80]}…"


class _Reader:
    """Takes one key after another out of the mapping; what is left at the end is unknown."""

    def __init__(self, path: Path, given: dict[Any, Any]) -> None:
        self._path = path
        self._given = given

    def description(self) -> Description:
        self._refuse_unknown(self._given, KEYS, "")
        record, patch = self._place("record"), self._place("patch")
        workspace = self._place("workspace")
        if workspace and not workspace.is_dir():
            self._refuse("workspace", "must be a folder", self._given["workspace"])
        return Description(
            task=self._words("task"),
            agent=self._take("agent", _string, "a text"),
            agent_version=self._take("agent_version", _string, 'a text (in quotes: "1.0")'),
            model=self._take("model", _string, "a text"),
            outcome=self._outcome(),
            context=self._words("context"),
            record=record,
            workspace=workspace,
            machine=self._take("machine", _container, "docker:CONTAINER or image:NAME"),
            patch=self._contents(patch, "patch") if patch else None,
            hidden_tests=self._hidden_tests(),
        )

    def _refuse(self, key: str, words: str, value: Any) -> NoReturn:
        raise InputError(f"{self._path}: {key}: {words}, got {_shown(value)}")

    def _refuse_unknown(self, given: dict[Any, Any], known: tuple[str, ...], prefix: str) -> None:
        for key in given:
            if key not in known:
                raise InputError(f"{self._path}: {prefix}{key}: is no key of a run; the keys are {', '.join(known)}")

    def _take(self, key: str, convert: Callable[[Any], T | None], wanted: str) -> T | None:
        value = self._given.get(key)
        if value is None:
            return None
        converted = convert(value)
        if converted is None:
            self._refuse(key, f"must be {wanted}", value)
        return converted

    # --- tests

    def _hidden_tests(self) -> tuple[str, ...]:
        """The tests that must come to pass and that the agent could not see."""
        wanted = dict.fromkeys(self._take("fail_to_pass", _texts, "a list of ids of tests") or ())
        if isinstance(all_of_them := self._given.get("absent_at_base"), bool):
            return tuple(wanted) if all_of_them else ()
        absent = set(self._take("absent_at_base", _texts, "a list of ids of tests, or true for all of fail_to_pass") or ())
        if unknown := absent.difference(wanted):
            self._refuse("absent_at_base", "must be ids that fail_to_pass lists", min(unknown))
        return tuple(test for test in wanted if test in absent)

    # --- texts and paths

    def _words(self, key: str) -> str | None:
        """A text, given as such or as `{file: path}`."""
        value = self._given.get(key)
        if not isinstance(value, dict):
            return self._take(key, _string, "a text, or {file: path}")
        if set(value) != {"file"} or not isinstance(value["file"], str):
            self._refuse(key, "must be a text, or {file: path}", value)
        return self._contents(self._resolved(f"{key}.file", value["file"]), f"{key}.file").strip() or None

    def _place(self, key: str) -> Path | None:
        value = self._take(key, _string, "a path")
        return self._resolved(key, value) if value else None

    def _resolved(self, key: str, value: str) -> Path:
        """A path that exists; a relative one lies inside of the folder even when its links are followed."""
        root = self._path.parent.resolve()
        try:
            place = (root / value).resolve()
            exists = place.exists()
        except (OSError, ValueError, RuntimeError):
            self._refuse(key, "must be a path", value)
        if not Path(value).is_absolute() and not place.is_relative_to(root):
            self._refuse(key, f"must lie inside of {self._path.parent}, or be an absolute path", value)
        if not exists:
            self._refuse(key, f"must exist, and there is no {place}", value)
        return place

    def _contents(self, place: Path, key: str) -> str:
        if not place.is_file():
            self._refuse(key, "must be a file", str(place))
        if place.stat().st_size > LONGEST:
            self._refuse(key, f"must be at most {LONGEST} bytes", str(place))
        return place.read_text("utf-8", "replace")

    # --- the outcome

    def _outcome(self) -> Outcome:
        given = self._given.get("outcome")
        if given is None:
            return Outcome()
        if not isinstance(given, dict):
            self._refuse("outcome", "must be a mapping such as {exit_status: 0, grade: resolved}", given)
        self._refuse_unknown(given, OUTCOME, "outcome.")
        inner = _Reader(self._path, {f"outcome.{key}": value for key, value in given.items()})
        return Outcome(
            exit_status=inner._take("outcome.exit_status", _whole, "a whole number"),
            grade=inner._take("outcome.grade", _grade, f"one of {', '.join(GRADES)}"),
            reward=inner._take("outcome.reward", _finite, "a number"),
            detail=inner._take("outcome.detail", _string, "a text"),
            failure=inner._take("outcome.failure", _failure, f"one of {', '.join(FAILURES)}"),
        )


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _container(value: Any) -> str | None:
    kind, _, name = value.partition(":") if isinstance(value, str) else ("", "", "")
    return value if kind in ("docker", "image") and name else None


def _texts(value: Any) -> list[str] | None:
    return value if isinstance(value, list) and all(isinstance(text, str) and text for text in value) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31 else None


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _failure(value: Any) -> Any:
    return value if value in FAILURES else None


def _grade(value: Any) -> Any:
    return value if value in GRADES else None
