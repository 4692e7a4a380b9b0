"""`adjudge pass` as a user types it, with a model's server on loopback."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command, Script

from adjudge.judges.reader.own import own_rubric
from adjudge.settings import Settings
from adjudge.store import schema
from adjudge.wiring import open_store

Serve = Callable[[Script], str]
RUNS = 6


def blameless() -> str:
    scores: dict[str, dict[str, Any]] = {}
    for dimension in own_rubric().dimensions:
        value = {"reasoning": "Nothing in the record speaks against it.", "value": dimension.baseline, "citations": []}
        scores[dimension.id] = value | ({"share": 0, "causes": []} if dimension.causes else {})
    return json.dumps({"scores": scores, "summary": "It answered.", "steering": []})


@pytest.fixture
def imported(adjudge: Command, tmp_path: Path) -> Command:
    """A store with six runs, five of one harness."""
    for number in range(RUNS):
        messages = [
            {"role": "user", "content": f"Question {number}?"},
            {"role": "assistant", "content": f"Answer {number}."},
        ]
        folder = tmp_path / f"run{number}"
        (folder / "left").mkdir(parents=True)
        (folder / "left" / "number").write_text(str(number))
        agent = "other" if number == 5 else "codex"
        (folder / "run.yaml").write_text(f"record: chat.json\nworkspace: left\nagent: {agent}\n")
        (folder / "chat.json").write_text(json.dumps({"messages": messages}))
        assert adjudge("import", folder).status == 0
    return adjudge


def passes(adjudge: Command) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(adjudge("pass", "list", "--json").out)
    return found


def test_a_plan_shows_the_strata_and_asks_nothing(imported: Command, serve: Serve) -> None:
    def fail(_: dict[str, Any]) -> str:
        raise AssertionError("a plan asks no model")

    ended = imported("pass", "plan", "--quota", 2, "--model", serve(fail))
    assert ended.status == 0
    lines = [line.split() for line in ended.out.splitlines()]
    assert ["codex", "unknown", "5", "0", "0", "2"] in lines
    assert ["other", "unknown", "1", "0", "0", "1"] in lines
    assert ["all", "6", "0", "0", "3"] in lines
    assert "Estimate: $0 for 3 judgments" in ended.out  # a server on loopback costs nothing


def test_a_pass_judges_what_it_selected_and_a_second_one_what_is_left(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    ended = imported("pass", "start", "--quota", 2, "--yes", "--model", model)
    assert ended.status == 0
    assert "finished" in ended.out
    assert "3 of 3 runs judged" in ended.out
    assert len(json.loads(imported("list", "--json").out)) == RUNS
    again = imported("pass", "start", "--quota", 2, "--yes", "--model", model)
    assert (again.status, again.err.splitlines()[-1]) == (0, "No run is left to be judged.")
    rest = imported("pass", "start", "--yes", "--model", model)
    assert "3 of 3 runs judged" in rest.out
    assert [row["status"] for row in passes(imported)] == ["finished", "finished"]
    shown = imported("pass", "show", passes(imported)[1]["id"])
    assert ["codex", "unknown", "5", "0", "0", "2"] in [line.split() for line in shown.out.splitlines()]


def test_judging_again_makes_new_rows(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    for _ in range(2):
        assert imported("pass", "start", "--again", "--yes", "--model", model).status == 0
    assert [run["judgments"] for run in json.loads(imported("list", "--json").out)] == [2] * RUNS


def test_money_is_not_spent_unasked(imported: Command, serve: Serve) -> None:
    ended = imported("pass", "start", "--model", serve(lambda _: blameless()))
    assert ended.status == 2
    assert "nobody can be asked here: give --yes, or --max-cost DOLLARS" in ended.err
    assert passes(imported) == []


def test_without_a_model_nothing_begins(imported: Command) -> None:
    ended = imported("pass", "start", "--yes")
    assert ended.status == 2
    assert "no model is named" in ended.err
    assert "`adjudge pass plan` shows what there is to judge" in ended.err
    assert passes(imported) == []


def test_a_plan_without_a_model_does_not_say_that_it_costs_nothing(imported: Command) -> None:
    ended = imported("pass", "plan")
    assert (ended.status, "Estimate" in ended.out) == (0, False)
    assert "No model is named, so neither what it costs" in ended.err


def test_a_plan_knows_prices_without_a_key(imported: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert "Estimate: about $" in imported("pass", "plan", "--model", "openai/gpt-4o").out


def test_what_was_judged_before_is_counted_although_it_is_judged_again(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    assert imported("pass", "start", "--yes", "--model", model).status == 0
    lines = [line.split() for line in imported("pass", "plan", "--again", "--model", model).out.splitlines()]
    assert ["all", "6", "0", "6", "6"] in lines


def test_what_costs_nothing_suits_any_limit(imported: Command, serve: Serve) -> None:
    ended = imported("pass", "start", "--max-cost", "0", "--model", serve(lambda _: blameless()))
    assert (ended.status, "6 of 6 runs judged" in ended.out) == (0, True)


def test_a_pass_shows_how_it_was_started(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    imported("pass", "start", "--quota", 1, "--always", "*/exit 1", "--seed", 7, "--max-cost", 3, "--model", model)
    shown = imported("pass", "show", passes(imported)[0]["id"]).out
    assert "with --quota 1 --always '*/exit 1' --seed 7 --max-cost 3; rubric reader; reader http://" in shown


def test_nothing_left_has_the_shape_of_a_pass_in_json(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    first = json.loads(imported("pass", "start", "--yes", "--json", "--model", model).out)
    second = json.loads(imported("pass", "start", "--yes", "--json", "--model", model).out)
    assert (set(first), second["row"], second["ending"]) == ({"row", "ending"}, None, None)
    assert second["plan"]["selection"]["runs"] == []


def test_a_stopped_pass_is_gone_on_with(imported: Command, serve: Serve) -> None:
    asked = threading.Semaphore(0)

    def script(_: dict[str, Any]) -> str:
        asked.release()
        time.sleep(0.2)
        return blameless()

    def interrupt() -> None:
        asked.acquire()
        os.kill(os.getpid(), signal.SIGTERM)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    ended = imported("pass", "start", "--yes", "--at-once", 2, "--model", serve(script))
    interrupting.join()
    assert ended.status == 128 + signal.SIGTERM
    (row,) = passes(imported)
    assert (row["status"], row["reason"]) == ("stopped", "it was asked to stop")
    assert 1 <= row["landed"] < RUNS
    assert f"`adjudge pass resume {row['id']}` goes on." in ended.out
    resumed = imported("pass", "resume", row["id"][:8])
    assert resumed.status == 0
    assert [run["judgments"] for run in json.loads(imported("list", "--json").out)] == [1] * RUNS


def test_an_answer_that_cannot_be_read_is_judged_again_only_if_asked(imported: Command, serve: Serve) -> None:
    answers: Iterator[str] = iter(["no JSON"] * 4)  # the cascade's four calls, or three where there is no reasoning
    model = serve(lambda _: next(answers, blameless()))
    assert imported("pass", "start", "--yes", "--at-once", 1, "--model", model).status == 0
    (row,) = passes(imported)
    assert (row["landed"], row["errored"]) == (RUNS, 1)
    assert imported("pass", "resume", row["id"]).status == 0
    assert passes(imported)[0]["errored"] == 1
    assert imported("pass", "resume", row["id"], "--retry-no-verdict").status == 0
    assert passes(imported)[0]["errored"] == 0
    assert sorted(run["judgments"] for run in json.loads(imported("list", "--json").out)) == [1] * 5 + [2]


def test_a_pass_of_another_judge_is_not_gone_on_with(
    imported: Command, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert imported("pass", "start", "--yes", "--quota", 1, "--model", serve(lambda _: blameless())).status == 0
    monkeypatch.setattr("adjudge.judges.reader.judge.VERSION", "99.0")
    ended = imported("pass", "resume", passes(imported)[0]["id"])
    assert ended.status == 2
    assert "was begun by another judge than there would be now (its version differ" in ended.err


def test_a_rubric_of_probes_needs_no_model(imported: Command, tmp_path: Path) -> None:
    rubric = tmp_path / "probes.yaml"
    rubric.write_text(
        'name: probes\ncriteria:\n  - id: there\n    text: "`cat number` prints a number"\n'
        "    probe: {run: cat number, stdout_matches: '[0-9]'}\n"
    )
    ended = imported("pass", "start", "--rubric", rubric, "--yes", "--json")
    assert ended.status == 0
    assert json.loads(ended.out)["row"]["landed"] == RUNS
    assert "Estimate: $0 for 6 judgments: no model is asked." in imported("pass", "plan", "--again", "--rubric", rubric).out
    assert [run["score"] for run in json.loads(imported("list", "--json").out)] == [1.0] * RUNS


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--share", "1.5"), "--share 1.5:"),
        (("--quota", "2", "--share", "10%"), "--quota and --share"),
    ],
)
def test_a_selection_that_makes_no_sense_is_refused(imported: Command, options: tuple[str, ...], told: str) -> None:
    ended = imported("pass", "plan", *options)
    assert (ended.status, told in ended.err) == (2, True)


def test_a_limit_that_cannot_be_kept_is_refused(imported: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    ended = imported("pass", "start", "--max-cost", "5", "--model", "openai/a-model-that-nobody-knows")
    assert ended.status == 2
    assert "no price is known, so --max-cost 5 cannot be kept" in ended.err
    assert passes(imported) == []


def test_a_resumed_pass_keeps_to_the_limit_that_it_was_started_with(imported: Command, serve: Serve) -> None:
    model = serve(lambda _: blameless())
    assert imported("pass", "start", "--max-cost", "7", "--quota", 1, "--model", model).status == 0
    shown = json.loads(imported("pass", "show", passes(imported)[0]["id"], "--json").out)
    assert (shown["plan"]["max_cost"], shown["plan"]["again"]) == (7.0, False)


def test_a_selection_of_nothing_is_no_success(imported: Command, serve: Serve) -> None:
    ended = imported(
        "pass", "start", "--yes", "--quota", 0, "--always", "*/reslved", "--model", serve(lambda _: blameless())
    )
    assert ended.status == 2
    assert "whether --always is misspelt" in ended.err


def test_a_run_whose_machine_is_gone_has_a_row_that_says_so(imported: Command, tmp_path: Path) -> None:
    (tmp_path / "run0" / "left" / "number").unlink()
    (tmp_path / "run0" / "left").rmdir()
    rubric = tmp_path / "probes.yaml"
    rubric.write_text("criteria:\n  - id: there\n    text: number exists\n    probe: {file: number, exists: true}\n")
    assert imported("pass", "start", "--rubric", rubric, "--yes").status == 0
    (row,) = passes(imported)
    assert (row["status"], row["landed"], row["errored"]) == ("finished", RUNS, 1)


def test_a_pass_after_a_bare_ray_is_no_address(imported: Command) -> None:
    ended = imported("pass", "resume", "--ray", "p-nothing")
    assert ended.status == 2
    assert "p-nothing" in ended.err
    assert "Missing" not in ended.err


def test_a_pass_whose_process_died_is_told_from_one_that_goes_on(imported: Command, serve: Serve) -> None:
    assert imported("pass", "start", "--yes", "--model", serve(lambda _: blameless())).status == 0
    identifier = passes(imported)[0]["id"]
    with open_store(Settings()) as store:
        writer = store.passes.hold(identifier)
        with store.writing() as connection:
            connection.execute(schema.passes.update().values(status="running"))
        going = [imported("pass", *words).out for words in (("list",), ("show", identifier))]
        assert ("running" in going[0], "resume" in going[1]) == (True, False)
        writer._lock.let_go()  # as when its process dies
        dead = [imported("pass", *words).out for words in (("list",), ("show", identifier))]
    assert ("died" in dead[0], "resume" in dead[1]) == (True, True)


def test_a_pass_begins_as_it_was_planned_or_not_at_all(imported: Command, serve: Serve, tmp_path: Path) -> None:
    model = serve(lambda _: blameless())
    planned = json.loads(imported("pass", "plan", "--quota", 2, "--model", model, "--json").out)["fingerprint"]
    for changed in (("--quota", 3), ("--quota", 2, "--seed", 1), ("--quota", 2, "--again")):
        ended = imported("pass", "start", *changed, "--model", model, "--plan", planned, "--yes")
        assert (ended.status, "look at the plan again" in ended.err) == (2, True)
    assert passes(imported) == []
    assert imported("pass", "start", "--quota", 2, "--model", model, "--plan", planned, "--yes").status == 0
    again = imported("pass", "start", "--quota", 2, "--model", model, "--plan", planned, "--yes")
    assert (again.status, "0 runs would be judged" in again.err) == (2, True)


def test_a_stored_rubric_is_named_by_its_hash(imported: Command, tmp_path: Path) -> None:
    rubric = tmp_path / "probes.yaml"
    rubric.write_text(
        'name: probes\ncriteria:\n  - id: there\n    text: "`cat number` prints a number"\n'
        "    probe: {run: cat number, stdout_matches: '[0-9]'}\n"
    )
    assert imported("pass", "start", "--rubric", rubric, "--quota", 1, "--yes").status == 0
    stored = passes(imported)[0]["rubric_hash"]
    rubric.unlink()
    for name in (stored, stored[:8]):
        planned = json.loads(imported("pass", "plan", "--rubric", name, "--json").out)
        assert (planned["rubric"]["name"], planned["rubric"]["hash"]) == ("probes", stored)
    missing = imported("pass", "plan", "--rubric", "0" * 64)
    assert (missing.status, "there is no rubric" in missing.err) == (2, True)
