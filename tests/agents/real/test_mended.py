"""Six real agents do a task on a local machine, leave a server running, and are judged where they worked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from tests.agents.real.mended import SECRET, Mended, attempt, each, of_agent, require, write_rubric
from tests.agents.real.players import PLAYERS, Player
from tests.agents.real.span import FILES, RIGHT, WRONG
from tests.agents.scripted_endpoint import billed_together

from adjudge.agents.endpoints import PLACEHOLDER

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("mended", each(PLAYERS), indirect=True, scope="module")]


@pytest.fixture(scope="module")
def mended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Mended:
    """An agent that has done all that its script says."""
    player: Player = request.param
    require(player)
    folder, port = tmp_path_factory.mktemp(player.name), 8100 + PLAYERS.index(player)
    rubric = write_rubric(folder, port)
    return asyncio.run(attempt(player, folder, [of_agent(player.steps(port=port))], port, "--rubric", rubric))


HERE = str(Path(__file__).parents[3])


def test_its_process_ends_well_and_the_tests_pass(mended: Mended) -> None:
    outcome = mended.result.outcome
    assert outcome is not None
    assert (outcome.exit_status, outcome.failure, outcome.grade) == (0, None, "resolved")


def test_its_record_is_its_own(mended: Mended) -> None:
    assert mended.run.record.format == mended.player.format
    assert mended.run.record.unparsed == ()
    assert mended.result.notes == ()


def test_every_turn_of_the_script_is_in_its_record(mended: Mended) -> None:
    steps = mended.player.steps()
    said = "\n".join(entry.text for entry in mended.run.record.entries if entry.writer == "agent")
    assert all(step.text in said for step in steps if step.text)
    assert len(mended.run.record.turns) == len(steps)


def test_every_call_of_the_script_is_in_its_record(mended: Mended) -> None:
    called = [entry.name for entry in mended.run.record.entries if entry.kind == "call"]
    assert called == [name for step in mended.player.steps() for name, _ in step.calls]
    assert mended.run.record.unpaired == ()


def test_its_usage_is_what_its_model_billed(mended: Mended) -> None:
    billed, usage = billed_together(mended.player.steps()), mended.result.usage
    assert usage is not None
    assert (usage.prompt, usage.cached, usage.output) == (billed.input, billed.cached, billed.output)


def test_it_costs_what_its_record_states_and_else_nothing_as_its_model_is_on_this_computer(mended: Mended) -> None:
    assert mended.result.cost == pytest.approx(mended.player.cost)


def test_its_patch_is_the_edit(mended: Mended) -> None:
    assert mended.run.patch is not None
    assert f"-    {WRONG}\n+    {RIGHT}\n" in mended.run.patch


def test_the_evaluator_reaches_the_server_that_it_left(mended: Mended) -> None:
    assert {verdict.criterion: verdict.passed for verdict in mended.judgment.verdicts} == {
        "tests": True,
        "served": True,
        "mended": True,
    }
    assert (mended.ran.status, mended.result.score) == (0, 1.0)


def test_its_version_and_model_are_known(mended: Mended) -> None:
    assert mended.run.agent_version
    assert mended.run.model == f"{mended.player.provider}/{mended.player.model}"


def test_the_key_reaches_the_endpoint_and_is_written_nowhere(mended: Mended) -> None:
    assert {asked.key for asked in mended.requests} == {SECRET}
    written = [content(path) for path in mended.folder.rglob("*") if path.is_file()]
    assert any(b"The factor is wrong." in text for text in written)  # so that what is kept is read at all
    assert not any(SECRET.encode() in text for text in written)
    assert SECRET not in mended.ran.out + mended.ran.err


def test_nothing_tells_it_that_it_is_judged(mended: Mended) -> None:
    sent = b"".join(msgspec.json.encode(asked.body) for asked in mended.requests).lower()
    sent = sent.replace(HERE.lower().encode(), b"")  # Gemini CLI tells where its skills lie, which is below this repository
    assert b"adjudge" not in sent
    assert PLACEHOLDER.encode() not in sent


def test_it_is_asked_for_no_path_that_a_model_does_not_have(mended: Mended) -> None:
    assert [note for note in mended.run.notes if "refused" in note] == []  # by the proxy, which asks for nothing else
    assert [asked.step for asked in mended.requests if asked.step is not None] == list(range(len(mended.player.steps())))


def test_it_is_offered_no_search_of_the_web(mended: Mended) -> None:
    offered = {name for asked in mended.requests for name in names_of_tools(asked.body)}
    assert offered
    assert {name for name in offered if "web" in name.lower() and "search" in name.lower()} == set()
    assert offered.isdisjoint({"googleSearch", "urlContext"})


def test_the_folder_that_it_began_with_is_as_it_was(mended: Mended) -> None:
    original = mended.folder / f"{mended.player.name}-files"
    assert {path.name: path.read_text() for path in original.rglob("*") if path.is_file()} == FILES


def test_no_process_of_it_is_left(mended: Mended) -> None:
    assert mended.left == ()


def names_of_tools(body: dict[str, Any]) -> Iterator[str]:
    """The names of the tools that a request offers, and the kinds of those that would run at the provider."""
    for tool in body.get("tools") or ():
        yield from (str(tool[key]) for key in ("name", "type") if key in tool)
        yield from (str(one["name"]) for one in (tool.get("functionDeclarations") or ()))
        yield from (str(tool["function"]["name"]),) if "function" in tool else tool


def content(path: Path) -> bytes:
    """A file's bytes, and those that are compressed in it."""
    data = path.read_bytes()
    return data + b"".join(frames(data)) if data.startswith(zstandard.FRAME_HEADER) else data


def frames(data: bytes) -> Iterator[bytes]:
    """What the frames of a Zstandard file hold."""
    with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
        while piece := reader.read(1 << 20):
            yield piece
