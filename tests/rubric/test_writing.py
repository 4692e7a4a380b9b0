"""A rubric that is written as a text, and what is read from it again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.rubric import CommandProbe, Criterion, Dimension, FileProbe, Rubric, Scale, content_hash, rubric_hash
from adjudge.rubric.places import line_of, lines_of
from adjudge.rubric.reading import parse_rubric, read_rubric
from adjudge.rubric.writing import rubric_text
from adjudge.wiring.inputs import shipped_rubrics

HERE = Path("rubric.yaml")

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
said = words.filter(lambda text: any(map(str.isalnum, text))).map(str.strip)
ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,20}", fullmatch=True)
probes = st.none() | st.builds(
    CommandProbe, run=said, exit=st.integers(0, 255), stdout=st.none() | said, live=st.booleans()
)
criteria = st.lists(
    st.builds(Criterion, id=ids, text=said, probe=probes, about=st.sampled_from([None, "result", "answer"])),
    min_size=1,
    max_size=5,
    unique_by=lambda criterion: criterion.id,
)


@settings(deadline=None)
@given(name=said, items=criteria)
def test_criteria_written_and_read_again_are_the_same(name: str, items: list[Criterion]) -> None:
    rubric = Rubric(name, tuple(items), rubric_hash(items), "rubric.yaml")
    read = parse_rubric(HERE, rubric_text(rubric))
    assert (read.criteria, read.hash) == (rubric.criteria, rubric.hash)


@pytest.mark.parametrize("rubric", shipped_rubrics(), ids=lambda rubric: rubric.name)
def test_what_is_shipped_is_the_same_when_it_is_written_and_read_again(rubric: Rubric) -> None:
    read = parse_rubric(HERE, rubric_text(rubric))
    assert msgspec.structs.replace(read, source=rubric.source) == rubric


def test_a_file_probe_and_a_scale_of_ones_own_stay_what_they_are() -> None:
    probed = Criterion("f", "It is there: `x`", FileProbe("a: b.txt", matches="^- [x]", exists=None))
    with_probe = Rubric("r", (probed,), rubric_hash([probed]), "rubric.yaml")
    assert parse_rubric(HERE, rubric_text(with_probe)) == with_probe
    dimension = Dimension(
        "d", Scale(-1.5, 2.25, whole=False), 0.1, "higher", "What is scored\n\n  - so", causes=("yes", "1.10")
    )
    scaled = Rubric("r", (), "", "rubric.yaml", (dimension,), "1.10")
    assert parse_rubric(HERE, rubric_text(scaled)).dimensions == (dimension,)
    assert parse_rubric(HERE, rubric_text(scaled)).hash == content_hash(scaled)


def test_a_name_that_could_not_be_read_is_left_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "---.yaml").write_text("- It prints `1`.\n")
    rubric = read_rubric(tmp_path / "---.yaml")
    assert parse_rubric(HERE, rubric_text(rubric)).criteria == rubric.criteria


TEXT = """# a comment
name: r
criteria:
  - "`x` prints `1`."
  - text: |
      Of two
      lines
  - text: 3
"""


def test_the_lines_of_items_are_counted_as_an_editor_does() -> None:
    assert lines_of(TEXT) == (4, 5, 8)
    assert lines_of("- a\n\n- b\n") == (1, 3)
    assert lines_of("[[criteria]]\ntext = 'x'\n") == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, 8),
        ("name: r\ncriteria:\n  - a\n - b\n", 4),
        ("a: &x 1\nb: *x\n", 2),
        ("!criteria[0] x\n" + "[" * 100_000, 1),
        ("name: x\n", None),
        ("[[criteria]]\ntext = \n", 2),
    ],
)
def test_what_is_wrong_with_a_text_names_its_line(text: str, line: int | None) -> None:
    with pytest.raises(InputError) as error:
        parse_rubric(HERE, text)
    assert line_of(str(error.value), text) == line
