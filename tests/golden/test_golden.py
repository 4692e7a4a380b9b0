"""The golden runs: each says what its expectations say it says, and nothing in it gives the answer away."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import get_args

import pytest
from bench.golden_cases import DIMENSION_OF, Dimension, GoldenCase, Topic, baseline, golden_cases

from adjudge.importers.sniff import read_runs
from adjudge.run import Run

CASES = {case.number: case for case in golden_cases()}

TELLING = (
    *("cheat", "contaminat", "fixture", "gamed", "gaming", "gave up", "golden", "hallucinat", "honest", "judge", "misread"),
    *("rubric", "scripted", "seeded", "synthetic", "twin"),
)

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@functools.cache
def run_in(folder: Path) -> Run:
    (run,) = read_runs(folder)
    return run


def run_of(case: GoldenCase) -> Run:
    return run_in(case.folder)


def folded(text: str) -> str:
    return " ".join(text.split())


@every_case
def test_a_run_is_imported_whole_in_its_format(case: GoldenCase) -> None:
    record = run_of(case).record
    assert record.format == case.format
    assert [turn.number for turn in record.turns] == list(range(1, case.turns + 1))
    assert record.unparsed == ()
    assert record.unpaired == ()


@every_case
def test_a_run_has_a_task_a_patch_tokens_and_a_last_word(case: GoldenCase) -> None:
    run = run_of(case)
    assert run.task
    assert run.patch == (case.folder / "patch.diff").read_text()
    last = [entry for entry in run.record.entries if entry.turn == case.turns and entry.kind == "message"]
    assert [entry.writer for entry in last] == ["agent"]
    prompts = [turn.usage.prompt for turn in run.record.turns if turn.usage and turn.usage.prompt]
    assert len(prompts) == case.turns
    assert prompts == sorted(prompts)


@every_case
def test_each_cited_turn_has_the_words_that_are_quoted_from_it(case: GoldenCase) -> None:
    entries = run_of(case).record.entries
    for expected in case.dimensions.values():
        for cited in expected.turns if expected else ():
            texts = [folded(entry.text) for entry in entries if entry.turn == cited.turn]
            assert any(folded(cited.quote) in text for text in texts), cited


@every_case
def test_nothing_that_a_judge_sees_gives_the_answer_away(case: GoldenCase) -> None:
    files = {path.name: path.read_text() for path in case.folder.iterdir()}
    assert set(files) == {
        "run.yaml",
        "expected.yaml",
        "patch.diff",
        next(name for name in files if name.startswith("record.")),
    }
    seen = "\n".join(text for name, text in files.items() if name != "expected.yaml").lower()
    assert re.findall(rf"\b(?:{'|'.join(TELLING)})", seen) == []
    assert case.folder.name.isdigit()


@every_case
def test_twins_have_the_same_task_harness_and_model_and_about_the_same_length(case: GoldenCase) -> None:
    run, other = run_of(case), run_of(CASES[case.twin])
    assert run.task == other.task
    assert (run.agent, run.agent_version, run.model) == (other.agent, other.agent_version, other.model)
    assert abs(case.turns - CASES[case.twin].turns) <= 1


@every_case
def test_a_twin_is_blameless(case: GoldenCase) -> None:
    if case.seeded:
        assert case.dimensions[DIMENSION_OF[case.topic]]
    else:
        for name, expected in case.dimensions.items():
            assert expected is None or expected.range[0] <= baseline(name) <= expected.range[1], name


def test_every_topic_has_one_run_that_does_it_and_the_order_does_not_tell_which() -> None:
    assert sorted(case.topic for case in CASES.values() if case.seeded) == sorted(get_args(Topic))
    first = [CASES[f"{number:02}"].seeded for number in range(1, 15, 2)]
    assert 2 < sum(first) < 5


def test_the_runs_are_in_six_formats() -> None:
    assert len({case.format for case in CASES.values()}) == 6


def test_the_severities_vary() -> None:
    seeded = [case.dimensions[DIMENSION_OF[case.topic]] for case in CASES.values() if case.seeded]
    assert {expected.value for expected in seeded if expected} == {1, 2, 3}


def test_the_dimensions_are_the_readers_nine() -> None:
    assert len(get_args(Dimension)) == 9
    assert {frozenset(case.dimensions) for case in CASES.values()} == {frozenset(get_args(Dimension))}


def test_no_run_names_a_folder_of_the_machine_that_it_was_made_on() -> None:
    here = f"{Path.home()}/"
    for case in CASES.values():
        assert not any(here in path.read_text() or "/tmp/tmp" in path.read_text() for path in case.folder.iterdir())
