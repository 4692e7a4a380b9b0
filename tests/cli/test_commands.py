"""What each command prints and how it ends, as a user meets it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from adjudge import __version__, wiring
from adjudge.errors import InputError

from .conftest import Command, Script

PROBES = """\
criteria:
  - {id: four, text: "`sh roman.sh 4` prints `IV`.", probe: {run: sh roman.sh 4, stdout: "IV\\n"}}
  - {id: notes, text: NOTES.md exists., probe: {file: NOTES.md, exists: true}}
"""
FAILING = PROBES + "  - {id: large, text: '4000 is refused with 2.', probe: {run: sh roman.sh 4000, exit: 2}}\n"
WORDS = "criteria:\n  - '`sh test.sh` ends with exit status 0.'\n"


def written(text: str, name: str = "rubric.yaml") -> Path:
    path = Path(name)
    path.write_text(text)
    return path


def test_the_version_needs_no_application() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "adjudge", "--version"]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == f"adjudge {__version__}\n"
    assert "typer" not in ended.stderr
    assert "msgspec" not in ended.stderr


def test_a_run_is_judged_by_probes_without_any_key(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(PROBES))
    assert ended.status == 0, ended.err
    assert "2 of 2 criteria passed (score 1.00)" in ended.out


def test_a_failed_criterion_is_exit_status_1(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(FAILING))
    assert ended.status == 1
    assert "2 of 3 criteria passed" in ended.out


def test_probes_without_a_machine_say_how_to_give_one(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO / "record.json", "-r", written(FAILING))
    assert "3 probes were not run: name the folder that the agent worked in with --machine" in ended.err
    assert "not run" not in adjudge("judge", wiring.DEMO, "-r", written(FAILING)).err


def test_without_a_key_a_rubric_in_words_is_not_judged_and_one_sentence_says_so(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(WORDS), "--json")
    judgment = json.loads(ended.out)
    assert ended.status == 3
    assert judgment["status"] == "errored"
    assert judgment["reason"].startswith("No model to judge with")
    assert judgment["failure"] == "refused"
    assert "score" not in judgment


def test_a_named_model_without_its_key_is_not_judged_and_the_variable_is_named(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(WORDS), "--model", "anthropic/claude-sonnet-4-5")
    assert ended.status == 3
    assert "ANTHROPIC_API_KEY" in ended.out


def test_without_a_rubric_the_exit_status_of_the_agent_decides(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", "none")
    assert ended.status == 0
    assert "exit status 0" in ended.out


def test_what_a_run_consumed_is_what_its_harness_states(adjudge: Command) -> None:
    rows = [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 1200, "cached_input_tokens": 700, "output_tokens": 30}},
    ]
    recording = written("".join(f"{json.dumps(row)}\n" for row in rows), "exec.jsonl")
    run = json.loads(adjudge("import", recording, "--json").out)[0]["run"]
    assert "tokens       1,200 in (700 cached), 30 out\n" in adjudge("show", run).out


def test_a_judgment_can_be_shown_verified_and_exported(adjudge: Command, tmp_path: Path) -> None:
    judgment = json.loads(adjudge("judge", wiring.DEMO, "--rubric", written(FAILING), "--json").out)["id"]
    assert "FAIL  large" in adjudge("show", judgment[:6]).out
    assert adjudge("verify", judgment).status == 0
    assert json.loads(adjudge("export", judgment, "--as", "reward").out)["reward"] == pytest.approx(2 / 3)
    suites = ElementTree.fromstring(adjudge("export", judgment, "--as", "junit").out)
    assert [suite.get("failures") for suite in suites.iter("testsuite")] == ["1"]
    assert json.loads(adjudge("export", "--as", "jsonl").out)["id"] == judgment
    assert adjudge("export", judgment, "--as", "html", "-o", "page.html").status == 0
    page = (tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert "large" in page


def test_an_exhibit_can_be_seen_whole(adjudge: Command) -> None:
    judgment = json.loads(adjudge("judge", wiring.DEMO, "--rubric", written(FAILING), "--json").out)["id"]
    assert "exit status: 1" in adjudge("show", judgment, "L3").out
    assert "sh test.sh" in adjudge("show", judgment, "e4").out
    wrong = adjudge("show", judgment, "e999")
    assert wrong.status == 2
    assert "no such exhibit" in wrong.err


def test_the_outline_of_a_run_names_a_tool_once(adjudge: Command) -> None:
    run = json.loads(adjudge("import", wiring.DEMO, "--json").out)[0]["run"]
    [line] = [line for line in adjudge("show", run).out.splitlines() if line.startswith("e4 ")]
    assert line.split() == ["e4", "1", "agent", "call", "bash", *line.split()[5:]]
    assert line.count("bash") == 1


def test_an_errored_judgment_counts_no_criteria(adjudge: Command) -> None:
    judgment = json.loads(adjudge("judge", wiring.DEMO, "-r", written(WORDS), "--json").out)
    [line] = [line for line in adjudge("show", judgment["run"]).out.splitlines() if line.startswith("j-")]
    assert line.split() == [judgment["id"], "rubric", "errored", "refused"]


def test_importing_twice_is_one_run(adjudge: Command) -> None:
    for _ in range(2):
        assert adjudge("import", wiring.DEMO / "record.json").status == 0
    rows = json.loads(adjudge("list", "--json").out)
    assert [row["turns"] for row in rows] == [9]


CHAT = [{"role": "user", "content": "Do it."}, {"role": "assistant", "content": "Done."}]


def run_folder(name: str, told: str) -> Path:
    """A run folder with a recording, an empty workspace, and what `run.yaml` says."""
    folder = Path(name)
    (folder / "workspace").mkdir(parents=True)
    written(json.dumps({"messages": CHAT}), f"{name}/chat.json")
    written(told, f"{name}/run.yaml")
    return folder


def test_a_run_that_stays_as_it_was_imported_first_is_named(adjudge: Command) -> None:
    adjudge("import", run_folder("plain", "record: chat.json\n"))
    told = "record: chat.json\nworkspace: workspace\noutcome: { exit_status: 0 }\n"
    ended = adjudge("import", run_folder("more", told))
    assert ended.status == 0
    assert "in the store already, with another outcome and workspace, and stays as it is" in ended.err
    assert "already" not in adjudge("import", "plain").err


def test_a_run_folder_without_a_record_is_named(adjudge: Command) -> None:
    ended = adjudge("import", run_folder("bare", "agent: someone\n"))
    assert "bare: this run has no record; `record` in run.yaml names one" in ended.err


def test_what_lies_between_recordings_is_counted_and_named(adjudge: Command, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(wiring.DEMO, folder / "run")
    (folder / "notes.txt").write_text("Buy milk.\n")
    ended = adjudge("import", folder)
    assert (ended.status, "1 file was skipped" in ended.err) == (0, True)
    assert f"{folder / 'notes.txt'}: its first line is 'Buy milk.'" in ended.err
    assert "skipped" not in adjudge("import", folder / "run").err


def test_a_path_that_cannot_be_imported_holds_up_no_other(adjudge: Command) -> None:
    ended = adjudge("import", "nowhere", wiring.DEMO, "--json")
    assert ended.status == 2
    assert "nowhere" in ended.err
    assert [run["turns"] for run in json.loads(ended.out)] == [9]


def test_what_could_not_be_read_is_named_once_with_its_file(adjudge: Command) -> None:
    rows = [json.dumps({"messages": CHAT}), *["{broken"] * 5]
    ended = adjudge("import", written("\n".join(rows), "chat.jsonl"))
    first, *_, last = ended.err.splitlines()
    assert first.startswith("chat.jsonl:2 was not read: not JSON")
    assert "2 more pieces were not read; `adjudge show r-" in last


def test_an_empty_store_says_how_to_fill_it(adjudge: Command) -> None:
    ended = adjudge("list")
    assert (ended.status, ended.out) == (2, "")
    assert "adjudge import" in ended.err
    assert not Path(".adjudge").exists(), "reading makes no store"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("judge", "nowhere.jsonl", "-r", "none"), "nowhere.jsonl"),
        (("judge", "r-123", "-r", "none"), "there is no store"),
        (("judge", wiring.DEMO, "-r", "missing.yaml"), "missing.yaml"),
        (("show", "j-123"), "there is no store"),
        (("export", "--as", "html"), "there is no store"),
        (("import", "nowhere"), "nowhere"),
        (("judge", wiring.DEMO), "--rubric"),
        (("judge", wiring.DEMO, "-r", "none", "--looks", "many"), "--looks"),
        (("list", "--wrong"), "--wrong"),
        (("judge", wiring.DEMO, "-r", wiring.DEMO / "rubric.yaml", "-m", "openrouter/gpt-6"), "openrouter/anthropic/gpt-6"),
    ],
)
def test_bad_input_is_exit_status_2_and_is_named(adjudge: Command, words: tuple[object, ...], names: str) -> None:
    ended = adjudge(*words)
    assert ended.status == 2
    assert names in ended.err
    assert "Traceback" not in ended.err


def test_names_that_stand_for_nothing_in_the_store_are_named(adjudge: Command) -> None:
    adjudge("import", wiring.DEMO)
    for words in (("judge", "r-123", "-r", "none"), ("show", "j-123"), ("verify", "j-123")):
        ended = adjudge(*words)
        assert ended.status == 2
        assert words[1] in ended.err
    assert "no judgments yet" in adjudge("export").err
    assert "exactly one judgment" in adjudge("export", "--as", "html").err


def test_an_id_of_the_wrong_kind_says_where_the_right_one_is(adjudge: Command) -> None:
    run = json.loads(adjudge("import", wiring.DEMO, "--json").out)[0]["run"]
    for words in (("export", run), ("verify", run), ("show", run, "--transcript")):
        ended = adjudge(*words)
        assert ended.status == 2
        assert f"`adjudge show {run}` lists its judgments" in ended.err
    assert "a run's begins with r-" in adjudge("show", "roman").err


def test_a_setting_of_the_wrong_kind_is_bad_input(adjudge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_LOOKS", "many")
    ended = adjudge("list")
    assert ended.status == 2
    assert "ADJUDGE_LOOKS" in ended.err


def test_an_error_of_our_own_is_exit_status_4(adjudge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ZeroDivisionError("broken on purpose")

    monkeypatch.setattr(wiring, "open_kept_store", breaks)
    ended = adjudge("list")
    assert ended.status == 4
    assert "bug of adjudge" in ended.err


def test_rubric_check_remarks_and_never_blocks(adjudge: Command) -> None:
    ended = adjudge("rubric", "check", written("criteria:\n  - The code is correct and minimal.\n"))
    assert ended.status == 0
    assert "correct" in ended.out


def test_doctor_names_what_works_and_what_would_help(adjudge: Command) -> None:
    checks = {check["name"]: check for check in json.loads(adjudge("doctor", "--json").out)}
    assert checks["store"]["works"] is True
    assert checks["models"]["works"] is False
    assert "OPENROUTER_API_KEY" in checks["models"]["help"]
    _, _, help = adjudge("doctor").out.partition("What would help\n")
    assert checks["models"]["help"] in " ".join(help.split())


def test_control_sequences_of_what_is_judged_never_reach_the_terminal(adjudge: Command, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\x85\x7f\u2028\u202e\U000e0041evil"
    chat = [{"role": "user", "content": f"Do it{evil}"}, {"role": "assistant", "content": f"Done{evil}"}]
    (tmp_path / "chat.json").write_text(json.dumps({"messages": chat}))
    run = json.loads(adjudge("import", "chat.json", "--json").out)[0]["run"]
    for words in (("list",), ("show", run), ("show", run, "e2"), ("judge", run, "-r", "none")):
        ended = adjudge(*words)
        assert not set(evil[:-4]) & set(ended.out + ended.err) - set("]0;owned[2J31m"), words
    for words in (("list",), ("show", run), ("show", run, "e2"), ("judge", run, "-r", "none")):
        ended = adjudge(*words, "--json")
        assert not set(evil[:-4]) & set(ended.out + ended.err) - set("]0;owned[2J31m"), words
        json.loads(ended.out)


def evaluator_that(looks: list[tuple[str, dict[str, Any]]], decision: dict[str, Any]) -> Script:
    """Looks first, then decides."""

    def script(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        looked = any(message["role"] == "tool" for message in body["messages"])
        return [("decide", decision)] if looked else looks

    return script


def decided(verdict: str, exhibit: str, quote: str) -> dict[str, Any]:
    citations = [{"exhibit": exhibit, "quote": quote}]
    return {
        "verdicts": [{"criterion": "c1", "verdict": verdict, "note": "Ran it: 11 of 11.", "citations": citations}],
        "summary": "It edited a script.",
    }


def test_a_model_judges_over_the_wire_and_its_exchange_can_be_played_again(
    adjudge: Command, serve: Callable[[Script], str]
) -> None:
    model = serve(evaluator_that([("run_command", {"command": "sh test.sh"})], decided("pass", "L1", "exit status: 0")))
    rubric = written(WORDS)
    ended = adjudge("judge", wiring.DEMO, "-r", rubric, "--model", model, "--exchange", "exchange.json", "--json")
    judgment = json.loads(ended.out)
    assert (ended.status, judgment["score"]) == (0, 1.0), ended
    assert judgment["looks"][0]["text"] == "11 of 11 checks pass\n"
    assert [call["usage"]["cached"] for call in judgment["calls"]] == [80, 80]
    again = adjudge("judge", wiring.DEMO, "-r", rubric, "--model", "recorded/exchange.json", "--budget", 0.01)
    assert again.status == 0, again
    rubric.write_text("criteria:\n  - '`sh test.sh` ends with exit status 1.'\n")
    other = adjudge("judge", wiring.DEMO, "-r", rubric, "--model", "recorded/exchange.json")
    assert other.status == 3
    assert "differs" in other.out


def test_a_pass_that_points_at_nothing_is_stopped(adjudge: Command, serve: Callable[[Script], str]) -> None:
    model = serve(evaluator_that([("outline", {})], decided("pass", "e24", "all 12 checks pass")))
    ended = adjudge("judge", wiring.DEMO, "-r", written(WORDS), "--model", model)
    assert ended.status == 1
    assert "stopped by the evidence gate" in ended.out


def test_a_probe_that_was_stopped_is_left_unproven(adjudge: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_MACHINE_SECONDS", "0.3")
    ended = adjudge("judge", wiring.DEMO, "-r", written("- {id: slow, text: It ends., probe: {run: sleep 9}}\n"))
    assert "FAIL  slow  by probe, left unproven" in ended.out


def test_what_the_model_answered_and_quoted_is_shown_where_it_does_not_hold(
    adjudge: Command, serve: Callable[[Script], str]
) -> None:
    model = serve(evaluator_that([("outline", {})], decided("pass", "e24", "all 13 checks pass")))
    ended = adjudge("judge", wiring.DEMO, "-r", written(WORDS), "--model", model)
    assert "The model had answered pass: Ran it: 11 of 11." in ended.out
    assert "✗ e24   “all 13 checks pass” the quote is not in e24" in ended.out


DIMENSIONS = """\
version: 1
dimensions:
- {id: loop, scale: severity, baseline: 0, worse: higher, description: It ran the same call again.}
"""


def test_a_rubric_of_dimensions_is_not_for_the_evaluator(adjudge: Command) -> None:
    ended = adjudge("judge", wiring.DEMO, "--rubric", written(DIMENSIONS))
    assert ended.status == 2
    assert "rubric.yaml: is a rubric of dimensions; `adjudge read` judges with it" in ended.err


def test_a_rubric_of_criteria_is_not_for_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(WORDS)
    with pytest.raises(InputError, match="is a rubric of criteria; `adjudge judge` judges with it"):
        wiring.find_dimensions(str(path))


def test_the_reader_has_dimensions_of_its_own_and_takes_a_users(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(DIMENSIONS)
    assert [dimension.id for dimension in wiring.find_dimensions(str(path)).dimensions] == ["loop"]
    assert len(wiring.find_dimensions(None).dimensions) == 9


def test_rubric_check_remarks_on_dimensions_too(adjudge: Command) -> None:
    path = written(DIMENSIONS)
    ended = adjudge("rubric", "check", path)
    assert ended.status == 0
    assert "loop: no guidance" in ended.out
    assert "rubric.yaml: version 1, 1 dimension, 2 remarks, sha256 " in ended.err
    told = json.loads(adjudge("rubric", "check", path, "--json").out)
    assert (told["version"], told["dimensions"][0]["id"]) == ("1", "loop")
    assert [remark["dimension"] for remark in told["remarks"]] == ["loop", "loop"]
