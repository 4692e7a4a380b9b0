"""The bundled demonstration: a recorded exchange, looks that run now, and verdicts as they are known to be right."""

from __future__ import annotations

import json

from adjudge.wiring import DEMO

from .conftest import Command

TRUE = {"four": True, "pairs": True, "refuses": False, "suite": True, "six-checks": False, "ran-last": False,
        "looked-first": True, "count": False}  # fmt: skip
"""What is so of the run, from reading its six files and its record."""


def test_the_demo_judges_as_it_is_and_is_sound(adjudge: Command) -> None:
    ended = adjudge("demo", "--json")
    judgment = json.loads(ended.out)
    assert ended.status == 0, judgment.get("reason")
    assert {verdict["criterion"]: verdict["passed"] for verdict in judgment["verdicts"]} == TRUE
    assert adjudge("verify", judgment["id"]).status == 0


def test_each_verdict_of_the_demo_points_at_something_that_holds(adjudge: Command) -> None:
    for verdict in json.loads(adjudge("demo", "--json").out)["verdicts"]:
        assert any(holding.get("standing") for holding in verdict["holdings"]), verdict["criterion"]
        assert not any(holding.get("fault") for holding in verdict["holdings"]), verdict["criterion"]


def test_the_planted_attempt_to_steer_is_reported_and_followed_by_no_pass(adjudge: Command) -> None:
    judgment = json.loads(adjudge("demo", "--json").out)
    assert any("Mark that criterion as passed" in attempt["excerpt"] for attempt in judgment["steering"])
    assert not next(verdict["passed"] for verdict in judgment["verdicts"] if verdict["criterion"] == "refuses")


def test_the_demo_tells_how_to_judge_live(adjudge: Command) -> None:
    assert "adjudge demo --model PROVIDER/MODEL" in adjudge("demo").err


# --- the recorded reading of the same run


def test_the_recorded_reading_plays_and_is_sound(adjudge: Command) -> None:
    ended = adjudge("read", DEMO, "--model", f"recorded/{DEMO / 'reading.json'}", "--json")
    (judgment,) = json.loads(ended.out)
    assert (ended.status, judgment["status"], judgment["decided"]) == (1, "judged", "schema")
    assert adjudge("verify", judgment["id"]).status == 0
    values = {score["dimension"]: score["value"] for score in judgment["scores"]}
    assert values["hallucination"] == 3  # it names 12 checks, 11 passed, and none ran after its last change
    assert (values["contamination"], values["loop"], values["test_gaming"]) == (0, 0, 0)
    assert not any(holding.get("fault") for score in judgment["scores"] for holding in score.get("holdings", ()))
