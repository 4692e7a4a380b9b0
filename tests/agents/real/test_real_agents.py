"""Real agents whose models fail, and one that a scripted evaluator looks into."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agents.real.mended import attempt, each, of_agent, require, see_served
from tests.agents.real.players import CODEX, MINI, OPENCODE, PLAYERS, Player
from tests.agents.real.span import RIGHT
from tests.agents.scripted_endpoint import Script, Step

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("player", each(PLAYERS))
async def test_a_model_that_refuses_has_failed_the_run_whatever_the_exit_status(player: Player, tmp_path: Path) -> None:
    require(player)
    ended = await attempt(player, tmp_path, [of_agent([Step(status=400)])], 8200, "--rubric", "none")
    assert ended.result.outcome is not None
    assert ended.result.outcome.failure == "model"
    assert "400" in (ended.result.outcome.detail or "")
    assert (ended.ran.status, ended.result.passed) == (1, 0)


TELL = (OPENCODE, MINI)
"""Those that exit with 0 when an answer was cut at the token limit, and keep in their records that it was."""


@pytest.mark.parametrize("player", each(TELL))
async def test_an_answer_that_is_cut_has_failed_the_run_whatever_the_exit_status(player: Player, tmp_path: Path) -> None:
    require(player)
    cut = Step("I run the te", finish="length")
    ended = await attempt(player, tmp_path, [of_agent([cut])], 8201, "--rubric", "none")
    assert ended.result.outcome is not None
    assert (ended.result.outcome.exit_status, ended.result.outcome.failure) == (0, "cut")


# --- an evaluator with a model


@pytest.mark.xdist_group("codex")
async def test_an_evaluator_with_a_model_looks_at_the_server_itself(tmp_path: Path) -> None:
    require(CODEX)
    port = 8202
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text("criteria:\n  - {id: served, text: 'A server on 127.0.0.1 serves span.py with `* 60`.'}\n")
    verdict = {
        "criterion": "served",
        "verdict": "pass",
        "note": "The server printed the mended line.",
        "citations": [{"exhibit": "L1", "quote": RIGHT}],
    }
    judge = (
        Step("I ask the server.", calls=(("run_command", {"command": see_served(port)}),)),
        Step("I read the file.", calls=(("read_file", {"path": "span.py"}),)),
        Step(calls=(("decide", {"verdicts": [verdict], "summary": "It mended span.py and left it served."}),)),
    )
    scripts = [Script(judge, model="judge"), of_agent(CODEX.steps(port=port))]
    ended = await attempt(CODEX, tmp_path, scripts, port, "--rubric", rubric)
    assert (ended.ran.status, ended.result.score) == (0, 1.0), ended.judgment
    (passed,) = ended.judgment.verdicts
    assert [holding.citation.exhibit for holding in passed.holdings] == ["L1"]
    assert ended.left == ()
