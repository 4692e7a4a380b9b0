"""Real agents that do the task in a container, leave a server running there, and are judged in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.real.mended import AGENTS, SECRET, attempt, of_agent, require, write_rubric
from tests.agents.real.players import CLAUDE, OPENCODE, Player
from tests.agents.real.span import RIGHT, WRONG
from tests.agents.scripted_endpoint import billed_together
from tests.machines.docker_engine import IN_ONE_WORKER, docker, docker_engine, docker_image

__all__ = ["docker", "docker_engine", "docker_image"]  # fixtures

pytestmark = [
    pytest.mark.slow,
    IN_ONE_WORKER,
    pytest.mark.skipif(not AGENTS.is_dir(), reason="the agents are not in .agents, where `make test-agents` puts them"),
]


# The image has no Node.js; these two are programs that need none.
@pytest.mark.parametrize("player", [pytest.param(player, id=player.name) for player in (CLAUDE, OPENCODE)])
async def test_a_real_agent_works_and_is_judged_in_a_container(
    player: Player, docker: str, docker_image: str, tmp_path: Path
) -> None:
    require(player)
    port = 8300
    rubric = write_rubric(tmp_path, port)
    scripts = [of_agent(player.steps(port=port))]
    ended = await attempt(player, tmp_path, scripts, port, "--rubric", rubric, "--machine", f"image:{docker_image}")

    outcome, usage, billed = ended.result.outcome, ended.result.usage, billed_together(player.steps())
    assert outcome is not None
    assert usage is not None
    assert (outcome.exit_status, outcome.failure, outcome.grade) == (0, None, "resolved")
    assert [verdict.criterion for verdict in ended.judgment.verdicts if not verdict.passed] == []
    assert (ended.run.record.format, len(ended.run.record.turns)) == (player.format, len(player.steps()))
    assert (usage.prompt, usage.cached, usage.output) == (billed.input, billed.cached, billed.output)
    assert f"-    {WRONG}\n+    {RIGHT}\n" in (ended.run.patch or "")
    assert {asked.key for asked in ended.requests} == {SECRET}
    assert ended.left == ()
