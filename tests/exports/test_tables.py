"""A pass as a table: a row for each verdict or score, the same in JSON Lines and Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, NOT_SHOWN, READER, SHOWN, a_run, add_pass, cut, evaluated, read

from adjudge.cli.tables import rows_of_passes, write_rows
from adjudge.errors import OutsideError
from adjudge.exports import parquet as module
from adjudge.exports.lines import row_lines
from adjudge.exports.table import Row
from adjudge.judgment import CauseFound, Score
from adjudge.run import Outcome
from adjudge.store.store import Store, open_store

HOSTILE = '=HYPERLINK("x")\x1b[2J\u202e, a\nb'


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def passes(store: Store) -> list[str]:
    """A pass of an evaluator with three judgments, one errored, and one of a reader with one."""
    runs = [a_run(1, cost=0.5, task_name="mend"), a_run(2, None, outcome=Outcome(1)), a_run(3)]
    judgments = [
        evaluated(runs[0], True, False),
        evaluated(runs[1], False, False, cost=None),
        evaluated(runs[2], failure="timeout", reason=HOSTILE),
    ]
    waste = CauseFound("repeated call", 0.25, "Keep it.", (SHOWN,))
    scores = (
        Score("loop", 2, HOSTILE, (SHOWN, NOT_SHOWN), 0.3, (waste,), worse=True),
        Score("gave_up_early", None, "It stopped.", fault="evidence_missing"),
    )
    return [
        add_pass(store, FILES, EVALUATOR, runs, judgments),
        add_pass(store, CONDUCT, READER, runs[:1], [read(runs[0], *scores, prepared=cut(3, 500))]),
    ]


@pytest.fixture
def rows(store: Store, passes: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in row_lines(rows_of_passes(store, passes))]


def test_each_verdict_and_score_is_a_row_and_so_is_a_judgment_without_any(rows: list[dict[str, Any]]) -> None:
    assert [(row["run"][-1], row["number"], row["item"], row["passed"], row["value"]) for row in rows] == [
        ("1", 0, "tests", True, None),
        ("1", 1, "notes", False, None),
        ("2", 0, "tests", False, None),
        ("2", 1, "notes", False, None),
        ("3", 0, None, None, None),
        ("1", 0, "loop", None, 2),
        ("1", 1, "gave_up_early", None, None),
    ]


def test_a_row_says_who_judged_whom(rows: list[dict[str, Any]], passes: list[str]) -> None:
    row = rows[1]
    assert row["pass"] == passes[0]
    assert (row["harness"], row["model"], row["outcome"], row["grade"], row["task_name"]) == (
        *("codex", "m-1", "resolved", "resolved", "mend"),
    )
    assert (row["judge"], row["judge_model"], row["judge_hash"]) == ("evaluator", "openrouter/judge-a", EVALUATOR.hash)
    assert (row["rubric"], row["rubric_hash"], row["sample"]) == ("files", FILES.hash, 0)
    assert (rows[2]["harness"], rows[2]["outcome"]) == ("unknown", "exit 1")


def test_a_row_says_what_was_said_and_what_holds(rows: list[dict[str, Any]]) -> None:
    failed, loop, demoted = rows[1], rows[5], rows[6]
    assert (failed["cause"], failed["citations"], failed["citations_hold"], failed["note"]) == ("agent", 2, 1, "Seen.")
    assert (loop["worse"], loop["share"], loop["causes"], loop["citations_hold"]) == (True, 0.3, ["repeated call"], 1)
    assert (demoted["fault"], demoted["citations"]) == ("evidence_missing", 0)


def test_cost_tokens_and_what_was_done_to_the_input_are_on_the_row(rows: list[dict[str, Any]]) -> None:
    assert (rows[0]["cost"], rows[0]["unpriced"], rows[0]["run_cost"]) == (0.01, False, 0.5)
    assert (rows[2]["cost"], rows[2]["unpriced"], rows[2]["run_cost"]) == (None, True, None)
    assert (rows[0]["prompt_tokens"], rows[0]["cached_tokens"], rows[0]["output_tokens"]) == (1000, 600, 50)
    assert (rows[5]["prune"], rows[5]["tool_output_pruned"], rows[5]["tool_output_pruned_characters"]) == ("pruned", 3, 500)
    assert (rows[0]["prune"], rows[0]["tool_output_pruned"]) == (None, None)


def test_costs_are_summed_over_the_first_rows_of_judgments(rows: list[dict[str, Any]]) -> None:
    assert sum(row["cost"] or 0 for row in rows if row["number"] == 0) == pytest.approx(0.01 + 0.01 + 0.002)


def test_json_lines_show_what_a_terminal_would_obey(rows: list[dict[str, Any]], store: Store, passes: list[str]) -> None:
    assert "\x1b" not in rows[4]["reason"]
    assert "<U+001B>" in rows[4]["reason"]
    assert all("\n" not in line for line in row_lines(rows_of_passes(store, passes)))


# --- Parquet


def table_of(path: Path) -> Any:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    return parquet.read_table(path)


def test_parquet_reads_back_as_the_rows(store: Store, passes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "pass.parquet"
    assert write_rows(path, rows_of_passes(store, passes), as_parquet=True) == 7
    found = table_of(path).to_pylist()
    expected = [json.loads(line) for line in row_lines(rows_of_passes(store, passes))]
    texts = ("reason", "note")
    assert [_without(row, texts) for row in found] == [_without(row, texts) for row in expected]
    assert (found[4]["reason"], found[5]["note"]) == (HOSTILE, HOSTILE)


def _without(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def test_parquet_columns_have_types_whatever_is_in_them(store: Store, passes: list[str], tmp_path: Path) -> None:
    write_rows(tmp_path / "a.parquet", rows_of_passes(store, passes[:1]), as_parquet=True)
    write_rows(tmp_path / "b.parquet", rows_of_passes(store, passes[1:]), as_parquet=True)
    write_rows(tmp_path / "c.parquet", [], as_parquet=True)
    first, second, empty = (table_of(tmp_path / f"{name}.parquet") for name in "abc")
    assert first.schema == second.schema == empty.schema
    told = {name: str(first.schema.field(name).type) for name in ("pass", "passed", "value", "number", "causes")}
    assert told == {
        "pass": "string",
        "passed": "bool",
        "value": "double",
        "number": "int64",
        "causes": "list<element: string>",
    }


def test_parquet_is_written_in_groups_of_rows(
    store: Store, passes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS", 3)
    write_rows(tmp_path / "a.parquet", rows_of_passes(store, passes), as_parquet=True)
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    told = parquet.read_metadata(tmp_path / "a.parquet")
    assert [told.row_group(at).num_rows for at in range(told.num_row_groups)] == [3, 3, 1]


def test_a_count_beyond_64_bits_is_not_known(store: Store, tmp_path: Path) -> None:
    run = a_run(1)
    judgment = evaluated(run, True, True)
    huge = judgment.calls[0].usage.__class__(prompt=2**63, output=5)
    calls = (judgment.calls[0].__class__("judge-a", huge, 1.0),)
    passes = [add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, True, True, calls=calls)])]
    write_rows(tmp_path / "a.parquet", rows_of_passes(store, passes), as_parquet=True)
    assert table_of(tmp_path / "a.parquet").column("prompt_tokens").to_pylist() == [None, None]


# --- files


def broken(rows: Iterator[Row]) -> Iterator[Row]:
    yield next(rows)
    raise OutsideError("a blob is damaged")


@pytest.mark.parametrize("as_parquet", [True, False])
def test_what_fails_midway_leaves_the_file_that_was_there(
    store: Store, passes: list[str], tmp_path: Path, as_parquet: bool
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "table").write_text("before")
    with pytest.raises(OutsideError, match="damaged"):
        write_rows(folder / "table", broken(rows_of_passes(store, passes)), as_parquet)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("table", "before")]


@pytest.mark.parametrize("as_parquet", [True, False])
def test_a_folder_that_is_not_there_is_told(store: Store, passes: list[str], tmp_path: Path, as_parquet: bool) -> None:
    with pytest.raises(OutsideError, match="cannot be written"):
        write_rows(tmp_path / "none" / "table", rows_of_passes(store, passes), as_parquet)
