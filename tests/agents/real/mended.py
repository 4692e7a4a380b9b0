"""A real agent that has done its task under `adjudge run`: all that was seen of it, in one value."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest
from tests.agents.real.players import Player
from tests.agents.real.span import FILES, TESTS, instructions
from tests.agents.scripted_endpoint import Asked, Script, Step, scripted
from tests.agents.started import STORE, Ran, adjudge_run, processes_with, stored_run, write_task

from adjudge.agents.comparison import Result
from adjudge.judgment import Judgment
from adjudge.run import Run
from adjudge.store.store import open_store

AGENTS = Path(__file__).parents[3] / ".agents"
SECRET = "sk-secret-9d1f4e7a-of-the-user"
ENOUGH = 240.0
"""Seconds that an attempt may take on a computer that does other things as well."""

_PLACES = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    "google": ("GEMINI_API_KEY", "GEMINI_BASE_URL", ""),
}


class Mended(msgspec.Struct, frozen=True):
    """What came of one attempt; `left` are processes of it that are still there."""

    player: Player
    folder: Path
    ran: Ran
    result: Result
    run: Run
    judgment: Judgment
    requests: tuple[Asked, ...]
    left: tuple[int, ...]


def each(players: Sequence[Player]) -> list[object]:
    """The players as parameters; all tests of one of them run in the same process, so that it works once for them all."""
    return [pytest.param(player, id=player.name, marks=pytest.mark.xdist_group(player.name)) for player in players]


def see_served(port: int) -> str:
    """A command that prints what the server serves."""
    see = f"urllib.request.urlopen('http://127.0.0.1:{port}/span.py', timeout=10).read().decode()"
    return f'python3 -c "import urllib.request; print({see})"'


def write_rubric(folder: Path, port: int) -> Path:
    """A rubric of probes: the tests pass, the server is reached, the file is mended."""
    see = {"run": see_served(port), "stdout_matches": "60 [+] int", "live": True}
    criteria = [
        {"id": "tests", "text": "`python3 -m unittest` ends with 0.", "probe": {"run": "python3 -m unittest"}},
        {"id": "served", "text": f"127.0.0.1:{port} serves span.py with `60 + int`.", "probe": see},
        {"id": "mended", "text": "span.py holds `* 60`.", "probe": {"file": "span.py", "matches": "[*] 60"}},
    ]
    path = folder / "rubric.yaml"
    path.write_bytes(msgspec.json.encode({"criteria": criteria}))
    return path


def require(player: Player) -> None:
    """Skip if this agent is not installed."""
    if not (AGENTS / "bin" / player.program).exists():
        pytest.skip(f"{player.name} is not in .agents, where `make test-agents` puts it")


async def attempt(
    player: Player,
    folder: Path,
    scripts: Sequence[Script],
    port: int,
    *words: object,
    environment: Mapping[str, str] | None = None,
    **task: object,
) -> Mended:
    """Let an agent do the task in a folder, with its model at an endpoint that plays the scripts, and have it judged."""
    path = write_task(folder, instructions(port), player.name, FILES, grader=TESTS, limits={"seconds": ENOUGH - 30}, **task)
    async with scripted(scripts) as endpoint:
        key, base, below = _PLACES[player.provider]
        env = {
            "PATH": f"{AGENTS / 'bin'}:{os.environ['PATH']}",
            key: SECRET,
            base: endpoint.url + below,
            "ADJUDGE_MODEL": f"{endpoint.url}/v1#judge",
        }
        agent = f"{player.name}={player.provider}/{player.model}"
        ran = await adjudge_run(
            *(path, "--agent", agent, "--json", *words),
            folder=folder,
            environment=env | dict(environment or {}),
            seconds=ENOUGH,
        )
    result = ran.result()
    run = stored_run(folder, result)
    assert result.judgment is not None, result.error
    with open_store(folder / STORE) as store:
        judgment = store.judgment(result.judgment)
    left = tuple(processes_with(f"http.server {port}"))
    return Mended(player, folder, ran, result, run, judgment, tuple(endpoint.requests), left)


def of_agent(steps: Sequence[Step]) -> Script:
    """A script for the agent, and not for the judge."""
    return Script(tuple(steps), match="Two tests of this repository")
