"""`adjudge profile` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge import wiring
from adjudge.cli.plot import HEIGHT, WIDTH, binned, plot

from .conftest import Command

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures"
FIX = FIXTURES / "mini" / "fix.traj.json"


def test_a_recording_is_profiled_without_a_store_or_a_key(adjudge: Command) -> None:
    ended = adjudge("profile", FIX)
    assert ended.status == 0, ended.err
    assert "5 turns, 5 calls: test 2, edit 1, print 1, read 1." in ended.out
    assert "Prompt sizes in tokens: p50 2,000, p75 2,500, p90 3,000, p95 3,000." in ended.out
    assert "Hints, computed without a model; they are no verdicts:" in ended.out
    assert ended.out.splitlines()[0].endswith(" · 5 turns · mini/fix.traj.json")
    assert not Path(".adjudge").exists()


def test_hints_that_found_nothing_are_only_named(adjudge: Command) -> None:
    found = {hint["name"]: hint["value"] for hint in json.loads(adjudge("profile", wiring.DEMO, "--json").out)["hints"]}
    *_, last = adjudge("profile", wiring.DEMO).out.splitlines()
    assert last.startswith("Nothing was found by ")
    named = last.removeprefix("Nothing was found by ").rstrip(".").split(", ")
    assert named == [name for name, value in found.items() if value == 0]
    assert "loops" in named


def test_of_several_runs_one_must_be_named(adjudge: Command) -> None:
    chat = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    Path("two.jsonl").write_text("\n".join(json.dumps({"messages": [*chat, *chat[:more]]}) for more in (0, 1)))
    ended = adjudge("profile", "two.jsonl")
    assert ended.status == 2
    assert "holds 2 runs; `adjudge import two.jsonl` keeps them all, then name one by its id" in ended.err


def test_a_stored_run_is_profiled_by_the_beginning_of_its_id(adjudge: Command) -> None:
    (row,) = json.loads(adjudge("import", FIX, "--json").out)
    assert adjudge("profile", row["run"][:8]).out == adjudge("profile", FIX).out


def test_json_has_every_figure_and_hint(adjudge: Command) -> None:
    found = json.loads(adjudge("profile", FIX, "--json").out)
    assert found["ledger"]["cached_share"] == 0.7
    assert [spend["prompt"] for spend in found["ledger"]["by_turn"]] == [1000, 1500, 2000, 2500, 3000]
    assert {"name", "value", "threshold", "flagged", "turns", "says", "about"} == set(found["hints"][0])


def test_a_recording_without_tokens_says_so_in_place_of_a_plot(adjudge: Command, tmp_path: Path) -> None:
    chat = tmp_path / "chat.json"
    chat.write_text(json.dumps([{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]))
    ended = adjudge("profile", chat)
    assert "The recording does not tell the tokens of its turns, so there is nothing to plot." in ended.out
    assert "█" not in ended.out


def test_the_demo_has_a_profile(adjudge: Command) -> None:
    assert adjudge("profile", wiring.DEMO).status == 0


def test_what_is_no_run_is_refused(adjudge: Command) -> None:
    ended = adjudge("profile", "nothing")
    assert ended.status == 2
    assert "there is no such file or folder" in ended.err


@pytest.mark.parametrize("turns", [1, 2, WIDTH, WIDTH + 1, 5000])
def test_a_plot_fits_into_a_hundred_columns_however_many_turns_there_are(turns: int) -> None:
    lines = plot("Prompt size", [250_000.0 + turn for turn in range(turns)], max, lambda value: f"{value:,.0f}")
    assert len(lines) == HEIGHT + 3
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith(f"{250_000 + turns - 1:,}")


def test_turns_that_share_a_column_are_told() -> None:
    assert "60 turns in a column, the largest of them shown" in plot("Prompt size", [1.0] * 5000, max, str)[0]
    assert "60 turns in a column, their sum shown" in plot("Cost", [1.0] * 5000, sum, str)[0]
    assert "in a column" not in plot("Prompt size", [1.0] * 5, max, str)[0]


def test_the_turns_of_a_column_are_put_together() -> None:
    assert binned([1.0, None, 3.0], max) == [1.0, None, 3.0]
    values: list[float | None] = [1.0, 2.0] * WIDTH
    assert binned(values, sum) == [3.0] * WIDTH


def test_an_unknown_value_is_a_gap_and_no_zero() -> None:
    lines = plot("Prompt size", [4.0, None, 0.0, 8.0], max, lambda value: f"{value:.0f}")
    assert lines[-2] == "0 └─·──"
    assert lines[1] == "8 │   █"
    assert lines[HEIGHT] == "  │█  █"
