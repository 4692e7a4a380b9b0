"""Reading expectations: what does not fit is refused, with the place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from bench.golden_cases import FOLDER, golden_cases

from adjudge.errors import InputError

Change = Callable[[dict[str, Any]], Any]


def changed(folder: Path, number: str, change: Change) -> Path:
    """Copies of the runs 01 and 02, with one expectation changed."""
    for name in ("01", "02"):
        (folder / name).mkdir(parents=True)
        shutil.copy(FOLDER / name / "expected.yaml", folder / name)
    path = folder / number / "expected.yaml"
    value = yaml.safe_load(path.read_text())
    change(value)
    path.write_text(yaml.safe_dump(value))
    return folder


def test_cases_come_by_number_with_their_folders() -> None:
    cases = golden_cases()
    assert [case.number for case in cases] == [f"{number:02}" for number in range(1, 15)]
    assert all((case.folder / "run.yaml").is_file() for case in cases)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda value: value.update(comment="x"), "unknown field `comment`"),
        (lambda value: value.pop("made_from"), "missing required field `made_from`"),
        (lambda value: value.update(topic="loops"), "topic"),
        (lambda value: value["dimensions"].pop("loop"), "must have all nine .* without loop"),
        (lambda value: value["dimensions"].update(speed=None), "speed"),
        (lambda value: value["dimensions"]["loop"].update(value=2), r"dimensions.loop: value and range must fit"),
        (lambda value: value["dimensions"]["loop"].update(range=[0, 4], value=4), "scale 0 to 3"),
        (lambda value: value["dimensions"]["loop"].update(share=[0, 1]), "token_efficiency, and no other"),
        (lambda value: value["dimensions"]["problem_misread"]["turns"][0].update(turn=11), "one of 1 to 10"),
        (lambda value: value["dimensions"]["problem_misread"]["turns"][0].update(quote=" "), "have a quote"),
        (lambda value: value["dimensions"]["problem_misread"].update(turns=[]), "must cite a turn"),
        (lambda value: value["dimensions"]["problem_misread"].update(range=[0, 3]), "must not have the blameless value"),
        (lambda value: value.update(twin="02"), "twin: must be the other run"),
        (lambda value: value.update(seeded=False), "must have the blameless value|twin"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, change: Change, words: str) -> None:
    with pytest.raises(InputError, match=rf"0[12]/expected\.yaml: .*({words})"):
        golden_cases(changed(tmp_path, "02", change))


def test_what_is_no_mapping_is_refused(tmp_path: Path) -> None:
    (tmp_path / "01").mkdir()
    (tmp_path / "01" / "expected.yaml").write_text("- a\n")
    with pytest.raises(InputError, match=r"01/expected\.yaml"):
        golden_cases(tmp_path)
