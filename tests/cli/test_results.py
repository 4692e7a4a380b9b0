"""`adjudge results`, `adjudge compare` and the export of a pass, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, cut, evaluated, read

from adjudge.judgment import Score
from adjudge.run import Outcome
from adjudge.store.store import open_store

from .conftest import Command


@pytest.fixture
def evaluation(adjudge: Command) -> str:
    """A pass over two agents at three tasks, of whose six runs five are judged, one without an answer."""
    runs = [
        a_run(2 * task + side, ("codex", "open\x1b[2Jcode")[side], task_name=f"task {task}", cost=0.25)
        for task in range(3)
        for side in range(2)
    ]
    judgments = [evaluated(run, number != 1, True) for number, run in enumerate(runs[:4])]
    judgments.append(evaluated(runs[4], failure="timeout", reason="No answer.", calls=()))
    with open_store(Path(".adjudge")) as store:
        return add_pass(store, FILES, EVALUATOR, runs, judgments)


@pytest.fixture
def reading(adjudge: Command) -> str:
    runs = [a_run(10), a_run(11, outcome=Outcome(1))]
    judgments = [
        read(
            runs[0],
            Score("loop", 2, "Again.", (SHOWN,), worse=True),
            Score("gave_up_early", 0, "No."),
            prepared=cut(3, 500),
        ),
        read(runs[1], Score("loop", 0, "No."), Score("gave_up_early", None, "So.", fault="evidence_missing")),
    ]
    with open_store(Path(".adjudge")) as store:
        return add_pass(store, CONDUCT, READER, runs, judgments)


@pytest.mark.parametrize(
    "line",
    [
        "6 runs selected, 5 landed, 1 not judged yet",
        "4 judged, 0 of them empty; 1 without an answer: 0 judge_parse_failed, 1 timeout",
        "cost of judging: $0.0400 and 1 unknown",
        "cost of the judged runs: $1.2500 (apart from judging, and in no sum with it)",
        "criterion  judged  passed  share  95 % interval  fails by cause",
        "tests           4       3   0.75   0.30 to 0.95  1 agent",  # 3 of 4: Wilson's 0.3006 to 0.9544
        "notes           4       4   1.00   0.51 to 1.00",
    ],
)
def test_results_of_an_evaluators_pass_are_printed(adjudge: Command, evaluation: str, line: str) -> None:
    assert line in adjudge("results", evaluation).out.splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "2 judged, 0 of them empty and 1 with a value for some dimensions only; 0 without an answer: 0 judge_parse_failed, "
        "0 timeout",
        "input: 0 texts cut; 3 tool outputs left out in 1 judgment (500 characters); 1 entry left out whole in 1 judgment "
        "(10 characters); 0 texts of the harness put as markers",
        "cost of the judged runs: unknown (apart from judging, and in no sum with it)",
        "harness  outcome   landed  judged  empty  in part  no answer  none worse      interval  judging cost  runs' cost",
        "codex    exit 1         1       1      0        1          0                                 $0.0020     unknown",
        "codex    resolved       1       1      0        0          0        0.00  0.00 to 0.79       $0.0020     unknown",
        "loop                2  1.00      1   0.50   0.09 to 0.91",
        "gave_up_early       1  0.00      0   0.00   0.00 to 0.79  1 evidence_missing",
        "loop           codex    resolved       1  2.00      1   1.00   0.21 to 1.00",
        "gave_up_early  codex    exit 1         0            0                        1 evidence_missing",
    ],
)
def test_results_of_a_readers_pass_are_printed(adjudge: Command, reading: str, line: str) -> None:
    assert line in adjudge("results", reading).out.splitlines()


def test_results_are_split_as_asked(adjudge: Command, evaluation: str) -> None:
    found = json.loads(adjudge("results", evaluation, "--by", "task", "--json").out)
    assert [(group["key"], group["landed"]) for group in found["groups"]] == [
        ({"task": "task 0"}, 2),
        ({"task": "task 1"}, 2),
        ({"task": "task 2"}, 1),
    ]
    assert found["whole"]["judging"] == {"known": pytest.approx(0.04), "unknown": 1}
    assert found["whole"]["runs"] == {"known": 1.25, "unknown": 0}


def test_what_is_not_known_of_a_cost_is_told_whole_and_explained_once(adjudge: Command) -> None:
    runs = [a_run(number, "agent of a rather long name " * 3, cost=0.6 if number < 2 else None) for number in range(5)]
    runs += [a_run(9, "zcode")]
    judgments = [evaluated(run, True, True) for run in runs]
    with open_store(Path(".adjudge")) as store:
        identifier = add_pass(store, FILES, EVALUATOR, runs, judgments)
    out = adjudge("results", identifier, "--by", "harness").out
    assert [line.split("  ")[-1] for line in out.splitlines() if "$0.0" in line][-2:] == ["$1.2000 + 3 ?", "unknown"]
    assert out.count("“+ 3 ?”: and 3 more, whose cost is not known.") == 1


def test_a_group_without_an_answer_has_no_lines_of_nothing(adjudge: Command, evaluation: str) -> None:
    out = adjudge("results", evaluation, "--by", "task").out
    assert [line.split()[1:3] for line in out.splitlines() if line.startswith("tests  ")][1:] == [
        ["task", "0"],
        ["task", "1"],
    ]


def test_nothing_in_results_steers_the_terminal(adjudge: Command, evaluation: str) -> None:
    for command in ("results", "compare"):
        out = adjudge(command, evaluation).out
        assert "\x1b" not in out
        assert "<U+001B>" in out


@pytest.mark.parametrize("command", ["results", "compare", "export"])
def test_a_pass_that_is_not_there_is_told(adjudge: Command, evaluation: str, command: str) -> None:
    ended = adjudge(command, "p-none")
    assert (ended.status, ended.err) == (2, "there is no pass 'p-none' in the store\n")


def test_a_pass_in_which_nothing_landed_has_no_tables(adjudge: Command) -> None:
    with open_store(Path(".adjudge")) as store:
        identifier = add_pass(store, FILES, EVALUATOR, [a_run(1)], [])
    ended = adjudge("results", identifier)
    assert (ended.status, "1 run selected, 0 landed, 1 not judged yet" in ended.out, "criterion" in ended.out) == (
        0,
        True,
        False,
    )


# --- compare


def test_agents_are_compared_with_what_each_difference_rests_on(adjudge: Command, evaluation: str) -> None:
    ended = adjudge("compare", evaluation)
    lines = ended.out.splitlines()
    assert "codex=m-1                   3       2      2        1.00   1.00" in lines
    assert [line.split("  ")[-1].strip() for line in lines if line.startswith("tests")] == ["2 tasks, not yet meaningful"]
    assert "A difference that rests on fewer than 20 tasks or runs is not yet meaningful." in ended.err


def test_compare_refuses_what_is_not_comparable(adjudge: Command, evaluation: str, reading: str) -> None:
    ended = adjudge("compare", evaluation, reading)
    assert ended.status == 2
    assert "2 rubrics" in ended.err


def test_one_agent_is_told_to_have_nobody_beside_it(adjudge: Command, reading: str) -> None:
    assert "only one agent" in adjudge("compare", "--rubric", "conduct").err


@pytest.fixture
def many(adjudge: Command) -> str:
    """A pass over six agents, which make fifteen pairs; one of them has a single run."""
    runs = [a_run(2 * side + number, f"agent-{side}") for side in range(6) for number in range(1 if side == 5 else 2)]
    with open_store(Path(".adjudge")) as store:
        return add_pass(store, FILES, EVALUATOR, runs, [evaluated(run, True, True) for run in runs])


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        ((), 10),
        (("--all",), 15),
        (("--agent", "agent-5=m-1", "--agent", "agent-0=m-1"), 1),
        (("--against", "agent-5=m-1"), 5),
    ],
)
def test_of_many_agents_the_pairs_that_are_asked_for_are_printed(
    adjudge: Command, many: str, words: tuple[str, ...], pairs: int
) -> None:
    ended = adjudge("compare", many, *words)
    assert ended.out.count(" minus B ") == pairs
    left_out = "5 pairs left out: only the 10 with the most judged runs are printed"
    assert (left_out in ended.err) == (not words)


def test_json_has_every_pair(adjudge: Command, many: str) -> None:
    compared = json.loads(adjudge("compare", many, "--json").out)
    assert len({(each["first"], each["second"]) for each in compared["contrasts"]}) == 15


def test_an_agent_nobody_ran_is_told_with_those_that_are_there(adjudge: Command, evaluation: str) -> None:
    ended = adjudge("compare", evaluation, "--against", "codex")
    assert (ended.status, ended.err) == (
        2,
        "--against codex: no agent has this name; there are codex=m-1, open<U+001B>[2Jcode=m-1\n",
    )


def test_judgments_that_say_nothing_overall_are_counted_beside_those_that_do(adjudge: Command, reading: str) -> None:
    ended = adjudge("compare", reading)
    assert "codex=m-1     2       2        1      1           0.00              1.00" in ended.out.splitlines()
    assert "In part: judgments without a value for some dimension" in ended.err


# --- export


def test_a_pass_is_printed_as_json_lines(adjudge: Command, evaluation: str) -> None:
    ended = adjudge("export", evaluation[:10])
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert (ended.status, len(rows), {row["pass"] for row in rows}) == (0, 9, {evaluation})


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_pass_is_exported_into_a_file(adjudge: Command, evaluation: str, reading: str, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    ended = adjudge("export", evaluation, reading, "--format", form, "-o", "table")
    assert (ended.status, ended.err) == (0, "table: 13 rows of 2 passes\n")
    assert Path("table").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--as", "junit"), "--as junit: holds judgments, not a pass"),
        (("--as", "parquet"), "--as parquet: is no text to print; name a file"),
        (("j-1",), "j-1: is no pass"),
    ],
)
def test_an_export_that_cannot_be_is_told(adjudge: Command, evaluation: str, words: tuple[str, ...], message: str) -> None:
    ended = adjudge("export", evaluation, *words)
    assert ended.status == 2
    assert message in ended.err


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_a_file_that_cannot_be_written_is_called_as_it_was_named(adjudge: Command, evaluation: str, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    ended = adjudge("export", evaluation, "--as", form, "-o", "nowhere/table")
    assert (ended.status, ended.err) == (3, "nowhere/table: cannot be written: No such file or directory\n")


def test_parquet_of_judgments_is_told_to_be_for_passes(adjudge: Command, evaluation: str) -> None:
    ended = adjudge("export", "--as", "parquet", "-o", "table")
    assert (ended.status, "holds the table of a pass" in ended.err, Path("table").exists()) == (2, True, False)
