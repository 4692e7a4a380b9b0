"""ATIF trajectories, after RFC 0001 of Harbor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError
from adjudge.importers.atif import Atif, is_part
from adjudge.record import Usage
from adjudge.run import Run

AGENT = {"name": "forge", "version": "2.4", "model_name": "tern"}


def call(key: str = "c1") -> dict[str, Any]:
    return {"tool_call_id": key, "function_name": "bash", "arguments": {"cmd": "ls"}}


def result(content: Any = "x", key: str | None = "c1", **rest: Any) -> dict[str, Any]:
    return {"results": [{"source_call_id": key, "content": content, **rest}]}


def step(source: str, message: Any = "", **rest: Any) -> dict[str, Any]:
    return {"step_id": 1, "source": source, "message": message, **rest}


def written(path: Path, *steps: dict[str, Any], **rest: Any) -> Path:
    held = {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": AGENT, "steps": steps, **rest}
    path.write_text(json.dumps(held))
    return path


def read(path: Path) -> Run:
    assert Atif().recognises(path, path.read_bytes()[: 1 << 16])
    (run,) = Atif().runs(path)
    return run


def run_of(tmp_path: Path, *steps: dict[str, Any], **rest: Any) -> Run:
    return read(written(tmp_path / "trajectory.json", *steps, **rest))


def test_steps_become_messages_reasoning_calls_and_results(tmp_path: Path) -> None:
    metrics = {"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 7, "cost_usd": 0.5}
    agents = step("agent", "Look.", reasoning_content="Hm.", tool_calls=[call()], observation=result(), metrics=metrics)
    run = run_of(tmp_path, step("system", "Be good."), step("user", "Fix it.", timestamp="2026-01-01T00:00:00"), agents)
    assert [(entry.kind, entry.writer) for entry in run.record.entries] == [
        ("message", "harness"),
        ("message", "user"),
        ("reasoning", "agent"),
        ("message", "agent"),
        ("call", "agent"),
        ("result", "tool"),
    ]
    assert run.record.entries[5].answers == "e5"
    assert run.record.turns[0].usage == Usage(100, 60, None, 7, None, 0.5)
    assert run.record.entries[1].time == "2026-01-01T00:00:00"
    assert (run.task, run.agent, run.agent_version, run.model) == ("Fix it.", "forge", "2.4", "tern")


def test_whether_a_result_is_an_error_is_absent_unless_an_extra_states_it(tmp_path: Path) -> None:
    run = run_of(
        tmp_path,
        step("agent", tool_calls=[call("a")], observation=result(key="a")),
        step("agent", tool_calls=[call("b")], observation=result(key="b"), extra={"tool_result_is_error": True}),
        step("agent", tool_calls=[call("c")], observation=result(key="c", extra={"is_error": False, "exit_code": 3})),
    )
    results = [(entry.is_error, entry.exit_status) for entry in run.record.entries if entry.kind == "result"]
    assert results == [(None, None), (True, None), (False, 3)]


def test_a_result_without_an_id_belongs_to_the_only_call_of_its_step(tmp_path: Path) -> None:
    one = step("agent", tool_calls=[call()], observation=result(key=None))
    two = step("agent", tool_calls=[call("a"), call("b")], observation=result(key=None))
    record = run_of(tmp_path, one, two).record
    assert [entry.answers for entry in record.entries if entry.kind == "result"] == ["e1", None]
    assert record.unpaired == ("e3", "e4", "e5")


def test_copied_steps_are_counted_and_left_out(tmp_path: Path) -> None:
    record = run_of(tmp_path, step("user", "Old.", is_copied_context=True), step("user", "New.")).record
    assert [entry.text for entry in record.entries] == ["New."]
    assert (record.skipped, record.used) == ({"copied": 1}, 1)


def test_a_step_of_an_unknown_source_is_unparsed_with_its_place(tmp_path: Path) -> None:
    record = run_of(tmp_path, step("user", "Hi."), step("oracle", "Hm."), 7).record  # type: ignore[arg-type]
    assert [piece.place for piece in record.unparsed] == ["trajectory.json:steps[1]", "trajectory.json:steps[2]"]


def test_a_step_without_a_model_call_is_no_turn(tmp_path: Path) -> None:
    record = run_of(tmp_path, step("agent", "a", llm_call_count=1), step("agent", "b", llm_call_count=0)).record
    assert len(record.turns) == 1
    assert record.entries[1].turn == 1


def test_parts_of_a_message_are_read_and_media_kept_as_their_place(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"media_type": "image/png", "path": "images/1.png"}}
    record = run_of(tmp_path, step("user", [{"type": "text", "text": "See"}, image])).record
    assert record.entries[0].text == "See\n[image/png images/1.png]"


def test_a_converters_placeholder_is_not_the_agents_word(tmp_path: Path) -> None:
    record = run_of(tmp_path, step("agent", "Executed bash c1", tool_calls=[call()], reasoning_content="Hm.")).record
    assert [entry.kind for entry in record.entries] == ["reasoning", "call"]


def test_a_continuation_is_part_of_the_run_and_its_totals_count(tmp_path: Path) -> None:
    total = {"total_prompt_tokens": 9, "total_completion_tokens": 2}
    cont = written(
        tmp_path / "trajectory.cont-1.json",
        step("user", "Old.", is_copied_context=True),
        step("agent", "Done."),
        final_metrics=total,
    )
    run = run_of(tmp_path, step("user", "Old."), continued_trajectory_ref="trajectory.cont-1.json")
    assert [entry.text for entry in run.record.entries] == ["Old.", "Done."]
    assert run.record.reported == Usage(prompt=9, output=2)
    assert is_part(cont)
    assert not is_part(tmp_path / "trajectory.json")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone.json", "is not there"),
        ("../outside.json", "outside of the trajectory's folder"),
        ("trajectory.json", "was read already"),
        ("broken.json", "not one whole JSON document"),
    ],
)
def test_a_continuation_that_cannot_be_read_is_reported(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "broken.json").write_text('{"steps": [')
    run = run_of(tmp_path, step("user", "Hi."), continued_trajectory_ref=name)
    (piece,) = run.record.unparsed
    assert piece.place == "trajectory.json:continued_trajectory_ref"
    assert words in piece.reason


def test_embedded_and_referenced_sub_agents_are_children_of_the_run(tmp_path: Path) -> None:
    inner = {
        "schema_version": "ATIF-v1.7",
        "trajectory_id": "t1",
        "agent": {"name": "helper"},
        "steps": [step("agent", "3")],
    }
    written(tmp_path / "trajectory.sub.json", step("agent", "4"))
    references = [{"trajectory_id": "t1"}, {"trajectory_path": "trajectory.sub.json"}, {"session_id": "unknown"}]
    calling = step("agent", tool_calls=[call()], observation=result(subagent_trajectory_ref=references))
    run = run_of(tmp_path, calling, subagent_trajectories=[inner])
    assert [child.label for child in run.record.children] == ["helper", "forge"]
    found = [run.record.entry(name) for name in ("s1.e1", "s2.e1")]
    assert [entry.text for entry in found if entry] == ["3", "4"]
    assert [piece.reason for piece in run.record.unparsed] == ["names a sub-agent's trajectory that is not in here"]


def test_sub_agents_nested_without_end_do_not_end_the_import(tmp_path: Path) -> None:
    inner: dict[str, Any] = {"steps": [step("agent", "deep")]}
    for _ in range(60):
        inner = {"steps": [step("agent", "x")], "subagent_trajectories": [inner]}
    run = run_of(tmp_path, step("agent", "top"), subagent_trajectories=[inner])
    assert len(run.record.children) == 20
    assert ["more than 20 below each other" in piece.reason for piece in run.record.unparsed] == [True]


def test_trailing_garbage_is_an_input_error_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path / "trajectory.json", step("user", "Hi."))
    path.write_text(path.read_text() + "}")
    with pytest.raises(InputError, match="trailing characters"):
        list(Atif().runs(path))
