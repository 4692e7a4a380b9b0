"""adjudge's run folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.errors import InputError
from adjudge.importers.sniff import read_runs
from adjudge.run import Outcome, Run

RECORD = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    (path / "workspace").mkdir(parents=True)
    (path / "record.json").write_text(json.dumps(RECORD))
    return path


def read(path: Path, description: str | None = None) -> Run:
    if description is not None:
        (path / "run.yaml").write_text(description)
    (run,) = read_runs(path)
    return run


WHOLE = """
task: Mend it.
agent: forge
agent_version: "2.4"
model: tern-large
outcome: {exit_status: 0, grade: resolved, reward: 1, detail: Submitted}
context: {file: notes.md}
record: record.json
workspace: workspace
patch: change.diff
gold_patch: {anything: [at, all]}
"""


def test_a_run_is_what_its_description_says(folder: Path) -> None:
    (folder / "notes.md").write_text("The grader is strict.\n")
    (folder / "change.diff").write_text("diff --git a/x b/x\n")
    run = read(folder, WHOLE)
    assert (run.task, run.agent, run.agent_version, run.model) == ("Mend it.", "forge", "2.4", "tern-large")
    assert run.outcome == Outcome(0, "resolved", 1.0, "Submitted")
    assert run.context == "The grader is strict."
    assert run.workspace == str(folder.resolve() / "workspace")
    assert run.patch == "diff --git a/x b/x\n"
    assert [entry.text for entry in run.record.entries] == ["Fix it.", "Done."]
    assert run.source == str(folder)


def test_what_the_description_leaves_out_the_recording_tells(folder: Path) -> None:
    run = read(folder, "record: record.json\n")
    assert (run.task, run.agent, run.workspace) == ("Fix it.", None, None)


def test_a_run_may_have_no_recording(folder: Path) -> None:
    run = read(folder, "task: Mend it.\nworkspace: workspace\n")
    assert (run.task, len(run.record.entries)) == ("Mend it.", 0)


@pytest.mark.parametrize(
    ("absent", "hidden"),
    [("[t::c, t::a]", ("t::a", "t::c")), ("true", ("t::a", "t::b", "t::c")), ("false", ()), ("[]", ()), ("null", ())],
)
def test_hidden_tests_are_those_that_must_pass_and_were_absent_at_the_base(
    folder: Path, absent: str, hidden: tuple[str, ...]
) -> None:
    run = read(folder, f"record: record.json\nfail_to_pass: [t::a, t::b, t::c, t::a]\nabsent_at_base: {absent}\n")
    assert run.hidden_tests == hidden


def test_a_test_that_the_agent_could_see_reaches_no_field(folder: Path) -> None:
    run = read(folder, "record: record.json\nfail_to_pass: [t::seen, t::hidden]\nabsent_at_base: [t::hidden]\n")
    assert "t::seen" not in repr(run)
    assert read(folder, "record: record.json\nfail_to_pass: [t::seen]\n").hidden_tests == ()


def test_a_reference_solution_reaches_no_field(folder: Path) -> None:
    run = read(folder, "record: record.json\ngold_patch: THE-SOLUTION\n")
    assert "THE-SOLUTION" not in repr(run)


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("outcome: {exit_status: zero}", 'run.yaml: outcome.exit_status: must be a whole number, got "zero"'),
        (f"outcome: {{exit_status: {10**29}}}", "run.yaml: outcome.exit_status: must be a whole number, got 1000"),
        ("outcome: {exit_status: true}", "run.yaml: outcome.exit_status: must be a whole number, got true"),
        ("outcome: {grade: good}", 'outcome.grade: must be one of resolved, unresolved, error, got "good"'),
        ("outcome: {reward: .nan}", "outcome.reward: must be a number, got NaN"),
        ("outcome: {score: 1}", "outcome.score: is no key of a run; the keys are exit_status, grade, reward, detail"),
        ("outcome: 0", "outcome: must be a mapping such as"),
        ("tasks: a", "run.yaml: tasks: is no key of a run; the keys are task, agent,"),
        ("fail_to_pass: t::a", 'run.yaml: fail_to_pass: must be a list of ids of tests, got "t::a"'),
        ("fail_to_pass: [1]", "run.yaml: fail_to_pass: must be a list of ids of tests, got a list"),
        (
            "absent_at_base: all",
            'absent_at_base: must be a list of ids of tests, or true for all of fail_to_pass, got "all"',
        ),
        ("absent_at_base: 1", "absent_at_base: must be a list of ids of tests, or true for all of fail_to_pass, got 1"),
        (
            "fail_to_pass: [t::a]\nabsent_at_base: [t::a, t::b]",
            'absent_at_base: must be ids that fail_to_pass lists, got "t::b"',
        ),
        ("task: [a]", "task: must be a text, or {file: path}, got a list"),
        ("task: {path: a}", "task: must be a text, or {file: path}, got a mapping"),
        ("agent_version: 2.4", 'agent_version: must be a text (in quotes: "1.0"), got 2.4'),
        ("record: gone.json", "record: must exist, and there is no"),
        ("record: ../other.json", "record: must lie inside of"),
        ("context: {file: ../other.json}", "context.file: must lie inside of"),
        ("record: link.json", "record: must lie inside of"),
        ("record: .", "record: must be a file, or a folder inside of"),
        ("record: workspace", "no file below this folder is a recording"),
        ("workspace: record.json", 'workspace: must be a folder, got "record.json"'),
        ("patch: workspace", "patch: must be a file"),
        ("task: a: b", "run.yaml: line 1: is not YAML"),
        ("task: 2026-13-45", "is not YAML"),
        ("- a", "run.yaml: must be a mapping of keys such as task and record, got a list"),
        ("a: &a [x]\nb: &b [*a, *a]\ntask: [*b, *b]", "a: is no key of a run"),
    ],
)
def test_a_fault_in_the_description_is_named_with_its_place(folder: Path, description: str, words: str) -> None:
    (folder.parent / "other.json").write_text(json.dumps(RECORD))
    (folder / "link.json").symlink_to(folder.parent / "other.json")
    with pytest.raises(InputError) as raised:
        read(folder, description + "\n")
    assert words in str(raised.value)
    assert str(folder) in str(raised.value)


def test_an_absolute_path_is_taken_as_it_is(folder: Path) -> None:
    outside = folder.parent / "other.json"
    outside.write_text(json.dumps(RECORD))
    assert read(folder, f"record: {outside}\n").task == "Fix it."


def test_a_recording_of_several_runs_is_refused(folder: Path) -> None:
    (folder / "record.json").write_text(json.dumps([{"messages": RECORD}] * 2))
    with pytest.raises(InputError, match="holds 2 runs"):
        read(folder, "record: record.json\n")


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "run.yaml").write_bytes(b"task: \xff\n")
    with pytest.raises(InputError, match="cannot be read as UTF-8"):
        read(folder)


# --- without a description


def test_names_decide_where_there_is_no_description(folder: Path) -> None:
    for name, words in (("task.md", "Mend it.\n"), ("context.txt", "Strict."), ("patch.diff", "diff")):
        (folder / name).write_text(words)
    for name in ("rubric.json", "labels.json"):
        (folder / name).write_text("{}")
    run = read(folder)
    assert (run.task, run.context, run.patch) == ("Mend it.", "Strict.", "diff")
    assert run.workspace == str(folder.resolve() / "workspace")
    assert [entry.text for entry in run.record.entries] == ["Fix it.", "Done."]


def test_the_only_recording_is_found_under_any_name(folder: Path) -> None:
    (folder / "record.json").rename(folder / "what.it.did")
    assert read(folder).task == "Fix it."


def test_two_recordings_need_a_description(folder: Path) -> None:
    (folder / "record.jsonl").write_text(json.dumps(RECORD))
    with pytest.raises(InputError, match=r"must hold one recording.*found record\.json, record\.jsonl"):
        read(folder)


def test_a_folder_with_neither_task_nor_workspace_is_no_run_folder(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(RECORD))
    (tmp_path / "b.json").write_text(json.dumps(RECORD))
    assert len(list(read_runs(tmp_path))) == 2


@pytest.mark.parametrize("name", ["task.md", "workspace", "record.json"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, name: str) -> None:
    outside: Any = folder.parent / "outside"
    place = folder / name
    if name == "workspace":
        outside.mkdir()
        place.rmdir()
    else:
        outside.write_text(json.dumps(RECORD))
        place.unlink(missing_ok=True)
    place.symlink_to(outside)
    with pytest.raises(InputError, match="is a link to"):
        read(folder)
