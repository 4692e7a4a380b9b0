"""Carry out a run: lay the repository out, do on the machine what the agent does, and keep what really came back."""

from __future__ import annotations

import os
import random
import re
import subprocess
from datetime import datetime
from pathlib import Path

from bench.golden_make.machine import Sandbox
from bench.golden_make.steps import Action, Done, Edit, Played, Read, Recorded, Shell, Story, Turn, Twin

ELAPSED = re.compile(r"\bin \d+\.\d+s\b")
WAITS = re.compile(r"\bsleep (\d+)")
CHARACTERS = 3.7
"""Of English and code, for each token."""

OVERHEAD = {"mini": 1250, "claude": 15400, "claude-stream": 15400, "codex": 8700, "opencode": 10900, "atif": 7600}
"""Tokens of each harness's own instructions and tools."""

GIT = {
    "GIT_AUTHOR_NAME": "Ines Rohde",
    "GIT_AUTHOR_EMAIL": "ines@example.org",
    "GIT_COMMITTER_NAME": "Ines Rohde",
    "GIT_COMMITTER_EMAIL": "ines@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
}


def play(story: Story, twin: Twin, folder: Path) -> tuple[Recorded, str | None]:
    """The run as it went, and what the hidden tests say of its end: `resolved`, `unresolved`, or `None` without any."""
    _lay_out(story, folder / "repo")
    chance = random.Random(f"{story.name} {twin.number}")
    with Sandbox(folder, f"/workspace/{story.name}", twin.prepare, story.room) as sandbox:
        turns = _play_turns(story, twin, sandbox, chance)
        patch, _ = sandbox.run("git add -A -N && git diff HEAD")
        return Recorded(story, twin, turns, patch), _grade(story, sandbox)


def _lay_out(story: Story, repository: Path) -> None:
    repository.mkdir()
    _git(repository, 0, "init", "-q", "-b", "main")
    commits = []
    for number, commit in enumerate(story.commits):
        _write(repository, commit.files)
        _git(repository, number, "add", "-A")
        _git(repository, number, "commit", "-q", "-m", commit.message)
        commits.append(_git(repository, number, "rev-parse", "HEAD"))
    if commits[story.head] != commits[-1]:
        _git(repository, 0, "update-ref", "refs/remotes/origin/main", commits[-1])
        _git(repository, 0, "reset", "-q", "--hard", commits[story.head])
    _git(repository, 0, "reflog", "expire", "--expire=now", "--all")
    _write(repository, story.loose)


def _write(repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
        if text.startswith("#!"):
            (repository / name).chmod(0o755)


def _git(repository: Path, day: int, *arguments: str) -> str:
    date = f"2026-02-{day + 2:02d}T10:{17 + 3 * day:02d}:00 +0000"
    environment = os.environ | GIT | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(["git", *arguments], cwd=repository, env=environment, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _play_turns(story: Story, twin: Twin, sandbox: Sandbox, chance: random.Random) -> tuple[Played, ...]:
    played: list[Played] = []
    now = datetime.fromisoformat(story.started).timestamp() + 5400 * (int(twin.number) % 2) + chance.uniform(0, 900)
    prompt, cached = OVERHEAD[story.harness] + tokens(story.task), 0
    for turn in twin.turns:
        output = tokens(turn.say) + sum(tokens(_written(action)) + 28 for action in turn.do) + chance.randint(2, 9)
        answered = now + 1.2 + output * chance.uniform(0.015, 0.025)
        done = tuple(_carry_out(action, sandbox, chance) for action in turn.do)
        ended = answered + _lasted(turn, chance)
        played.append(Played(turn.say, done, now, answered, ended, prompt, cached, output))
        prompt, cached = prompt + output + sum(tokens(one.output) + 14 for one in done), prompt
        now = ended + chance.uniform(0.04, 0.3)
    return tuple(played)


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    return round(len(text) / CHARACTERS)


def _written(action: Action) -> str:
    return "".join(getattr(action, name) for name in action.__struct_fields__)


def _lasted(turn: Turn, chance: random.Random) -> float:
    commands = [action.command for action in turn.do if isinstance(action, Shell)]
    return sum(map(int, WAITS.findall(" ".join(commands)))) + 0.05 + len(commands) * chance.uniform(0.05, 0.4)


def _carry_out(action: Action, sandbox: Sandbox, chance: random.Random) -> Done:
    match action:
        case Shell(command):
            output, status = sandbox.run(command)
            return Done(action, ELAPSED.sub(lambda _: f"in {chance.uniform(0.001, 0.04):.3f}s", output), status)
        case Read(path):
            return Done(action, sandbox.read(path))
        case Edit(path, old, new):
            before = sandbox.read(path)
            if before.count(old) != 1:
                raise SystemExit(f"make_golden: {path}: {old!r} stands {before.count(old)} times in it, must be once")
            after = before.replace(old, new)
            sandbox.write(path, after)
            return Done(action, "", before=before, after=after)


def _grade(story: Story, sandbox: Sandbox) -> str | None:
    if story.hidden is None:
        return None
    for name, text in story.hidden.files.items():
        sandbox.write(name, text)
    _, status = sandbox.run(story.hidden.command)
    return "unresolved" if status else "resolved"
