"""Rubrics of dimensions: what is read, what is refused, and what is remarked."""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.rubric import RATIO, SEVERITY, Criterion, Dimension, Rubric, Scale, content_hash
from adjudge.rubric.reading import read_rubric
from adjudge.rubric.wording import Remark, check_rubric

YAML = """\
name: ours
version: 2
dimensions:
- id: loop
  scale: severity
  baseline: 0
  worse: higher
  description: The agent did the same thing again.
  guidance: |
    1: once.
    2: often.
  not_findings:
  - Paging through a file.
- id: useful   # of all calls
  scale: ratio
  baseline: 1.0
  worse: lower
  description: The share of calls that were useful.
- id: speed
  scale: {least: -5, most: 5}
  baseline: 0
  worse: lower
  description: >
    How fast it was.
  causes: [slow tool, other]
"""
TOML = """\
version = "2"
name = "ours"

[[dimensions]]
id = "loop"
scale = "severity"
baseline = 0.0
worse = "higher"
description = "The agent did the same thing again."
guidance = "1: once.\\n2: often."
not_findings = ["Paging through a file."]

[[dimensions]]
id = "useful"
scale = {least = 0, most = 1, whole = false}
baseline = 1
worse = "lower"
description = "The share of calls that were useful."

[[dimensions]]
id = "speed"
worse = "lower"
scale = {least = -5.0, most = 5.0}
baseline = -0.0
description = "How fast it was."
causes = ["slow tool", "other"]
"""
JSON = json.dumps(
    {
        "dimensions": [
            {
                "worse": "higher",
                "not_findings": ["Paging through\n a file."],
                "id": "loop",
                "scale": {"least": 0, "most": 3.0, "whole": True},
                "baseline": 0,
                "description": " The agent did the same thing again.",
                "guidance": "1: once.\n2: often.\n",
            },
            {
                "id": "useful",
                "scale": "ratio",
                "baseline": 1,
                "worse": "lower",
                "description": "The share of calls that were useful.",
                "causes": [],
            },
            {
                "id": "speed",
                "scale": {"most": 5, "least": -5},
                "baseline": 0,
                "worse": "lower",
                "description": "How fast it was.",
                "causes": ["slow tool", "other"],
            },
        ],
        "version": "2",
    }
)


def written(tmp_path: Path, text: str, name: str = "rubric.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def refusal(tmp_path: Path, text: str, name: str = "rubric.yaml") -> str:
    with pytest.raises(InputError) as error:
        read_rubric(written(tmp_path, text, name))
    assert str(error.value).startswith(f"{tmp_path / name}: ")
    return str(error.value).removeprefix(f"{tmp_path / name}: ")


def test_dimensions_are_read_as_they_were_written(tmp_path: Path) -> None:
    rubric = read_rubric(written(tmp_path, YAML))
    assert (rubric.name, rubric.version, rubric.criteria) == ("ours", "2", ())
    assert rubric.dimensions == (
        Dimension(
            "loop",
            Scale(0, 3, whole=True),
            0,
            "higher",
            "The agent did the same thing again.",
            "1: once.\n2: often.",
            ("Paging through a file.",),
        ),
        Dimension("useful", Scale(0, 1, whole=False), 1, "lower", "The share of calls that were useful."),
        Dimension("speed", Scale(-5, 5), 0, "lower", "How fast it was.", causes=("slow tool", "other")),
    )


@pytest.mark.parametrize(("text", "name"), [(TOML, "r.toml"), (JSON, "r.json"), (YAML, "r"), (TOML, "r.txt")])
def test_the_same_dimensions_have_one_hash_in_every_syntax_and_layout(tmp_path: Path, text: str, name: str) -> None:
    rubric, other = read_rubric(written(tmp_path, YAML)), read_rubric(written(tmp_path, text, name))
    assert other.dimensions == rubric.dimensions
    assert other.hash == rubric.hash


def test_the_hash_is_a_sha_256_over_canonical_json(tmp_path: Path) -> None:
    text = "version: 7\ndimensions:\n- {id: a, scale: ratio, baseline: 0.5, worse: lower, description: A share.}"
    canonical = (
        '["7",{"baseline":0.5,"description":"A share.","id":"a",'
        '"scale":{"least":0,"most":1,"whole":false},"worse":"lower"}]'
    )
    assert read_rubric(written(tmp_path, text)).hash == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 2", "version: 3"),
        ("2: often.", "2: very often."),
        ("scale: severity", "scale: {least: 0, most: 4}"),
        ("baseline: 1.0", "baseline: 0.9"),
        ("[slow tool, other]", "[other, slow tool]"),
        ("- Paging through a file.", "- Polling."),
    ],
)
def test_another_dimension_or_version_is_another_hash(tmp_path: Path, old: str, new: str) -> None:
    assert old in YAML
    changed = read_rubric(written(tmp_path, YAML.replace(old, new)))
    assert changed.hash != read_rubric(written(tmp_path, YAML, "b.yaml")).hash


def test_a_rubric_of_dimensions_survives_storage_with_its_hash(tmp_path: Path) -> None:
    rubric = read_rubric(written(tmp_path, YAML))
    stored = msgspec.json.decode(msgspec.json.encode(rubric), type=Rubric)
    assert stored == rubric
    assert content_hash(stored) == content_hash(rubric) == rubric.hash


ONE: dict[str, Any] = {"id": "a", "scale": "severity", "baseline": 0, "worse": "higher", "description": "It happened."}


def with_one(**changed: Any) -> str:
    """A file with one dimension, some of its keys changed, or left out where they are `None`."""
    item = {key: value for key, value in (ONE | changed).items() if value is not None}
    return json.dumps({"version": "1", "dimensions": [item]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": None}, '"id" is missing; it names the dimension in every score'),
        ({"scale": None}, '"scale" is missing; severity, ratio, or a mapping with least and most'),
        ({"baseline": None}, '"baseline" is missing; the value of a run that is not to blame'),
        ({"worse": None}, '"worse" is missing; higher or lower: the direction in which values accuse'),
        ({"description": None}, '"description" is missing; it must say what is scored'),
        ({"id": 3}, '"id" must be text, got 3; put it in quotes'),
        ({"id": "two words"}, '"id" must be letters, digits, "-", "_" and ".", at most 64, got "two words"'),
        ({"weight": 2}, '"weight" is not known here; known are id, scale, baseline, worse, description, guidance, '),
        ({"scale": "stars"}, '"scale" must be severity, ratio, or a mapping with least and most, got "stars"'),
        ({"scale": [0, 3]}, '"scale" must be severity, ratio, or a mapping with least and most, got a list'),
        ({"baseline": 4}, '"baseline" must be on the scale, a whole number from 0 to 3, got 4'),
        ({"baseline": 0.5}, '"baseline" must be on the scale, a whole number from 0 to 3, got 0.5'),
        ({"baseline": "0"}, '"baseline" must be a number from -1000000 to 1000000, got "0"'),
        ({"baseline": True}, '"baseline" must be a number from -1000000 to 1000000, got true'),
        (
            {"baseline": 10**100},
            '"baseline" must be a number from -1000000 to 1000000, got a number of more than 80 digits',
        ),
        ({"scale": "ratio", "baseline": 1.01}, '"baseline" must be on the scale, a number from 0 to 1, got 1.01'),
        ({"baseline": 3}, 'nothing is worse than a "baseline" of 3 if higher is worse'),
        ({"worse": "lower"}, 'nothing is worse than a "baseline" of 0 if lower is worse'),
        ({"worse": "up"}, '"worse" must be higher or lower, got "up"'),
        ({"guidance": ""}, '"guidance" is empty; it must be text'),
        ({"description": " "}, '"description" is empty; it must be text'),
        ({"description": "x" * 4001}, '"description" has 4001 characters; at most 4000 are read'),
        ({"guidance": "x" * 8001}, '"guidance" has 8001 characters; at most 8000 are read'),
        ({"guidance": ["1: once"]}, '"guidance" must be text, got a list'),
        ({"not_findings": "polling"}, '"not_findings" must be a list of texts, got "polling"'),
        ({"not_findings": ["a"] * 51}, '"not_findings" has 51 texts; at most 50 are read'),
        ({"not_findings": ["a", 7]}, '"not_findings[1]" must be text, got 7; put it in quotes'),
        ({"not_findings": ["x" * 1001]}, '"not_findings[0]" has 1001 characters; at most 1000 are read'),
        ({"causes": ["a", "b", " a "]}, '"causes[2]" is the same as "causes[0]"; write each once'),
        ({"causes": ["x" * 101]}, '"causes[0]" has 101 characters; at most 100 are read'),
        ({"causes": [""]}, '"causes[0]" is empty; it must be text'),
        ({"description": "a \ud800"}, '"description" holds half of a surrogate pair'),
    ],
)
def test_a_faulty_dimension_is_told_with_its_place_and_what_would_be_right(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    assert refusal(tmp_path, with_one(**changed), "r.json").startswith(f"dimensions[0]: {message}")


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ({}, '"least" must be a number from -1000000 to 1000000, got nothing'),
        ({"least": 0}, '"most" must be a number from -1000000 to 1000000, got nothing'),
        ({"least": 1, "most": 1}, '"most" must be above "least", which is 1, got 1'),
        ({"least": 2, "most": 1}, '"most" must be above "least", which is 2, got 1'),
        ({"least": 0, "most": 1.5}, '"most" must be a whole number where "whole" is not false, got 1.5'),
        ({"least": 0, "most": 1, "whole": 1}, '"whole" must be true or false, got 1'),
        ({"least": 0, "most": 1, "step": 1}, '"step" is not known here; known are least, most, whole'),
        ({"least": float("nan"), "most": 1}, '"least" must be a number from -1000000 to 1000000, got nan'),
        ({"least": 0, "most": float("inf")}, '"most" must be a number from -1000000 to 1000000, got inf'),
        ({"least": 0, "most": 1_000_001}, '"most" must be a number from -1000000 to 1000000, got 1000001'),
    ],
)
def test_a_faulty_scale_is_told(tmp_path: Path, scale: dict[str, Any], message: str) -> None:
    assert refusal(tmp_path, with_one(scale=scale), "r.json").startswith(f"dimensions[0].scale: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version: 1", '"dimensions" must be a list with at least one dimension, got nothing'),
        ("version: 1\ndimensions: []", '"dimensions" must be a list with at least one dimension, got a list with nothing'),
        ("version: 1\ndimensions: {a: 1}", '"dimensions" must be a list with at least one dimension, got a mapping'),
        ("version: 1\ndimensions: [loop]", "dimensions[0]: must be a mapping with id, scale, baseline, worse, description"),
        ("dimensions: [loop]", '"version" is missing; it must be a text or a whole number, and change with the content'),
        ("version: 1.10\ndimensions: [loop]", '"version" must be text, got 1.1; put it in quotes'),
        ("version: yes\ndimensions: [loop]", '"version" must be text, got true; put it in quotes'),
        ("version: 1\nauthor: me\ndimensions: [loop]", '"author" is not known here; known are name, version, dimensions'),
        ("criteria: [a.txt exists]\ndimensions: [loop]", "has both criteria and dimensions"),
        ("version: 1\ncriteria: [a.txt exists]", '"version" is not known here; known are name, criteria'),
    ],
)
def test_a_file_that_is_no_rubric_of_dimensions_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_an_id_belongs_to_one_dimension(tmp_path: Path) -> None:
    text = json.dumps({"version": "1", "dimensions": [ONE, ONE | {"id": "b"}, ONE]})
    assert refusal(tmp_path, text, "r.json").startswith("dimensions[2]: \"id\" 'a' is already that of dimensions[0]")


def test_fifty_dimensions_are_enough(tmp_path: Path) -> None:
    items = [ONE | {"id": f"d{number}"} for number in range(51)]
    fifty = json.dumps({"version": "1", "dimensions": items[:50]})
    assert len(read_rubric(written(tmp_path, fifty, "r.json")).dimensions) == 50
    assert "has 51 dimensions" in refusal(tmp_path, json.dumps({"version": "1", "dimensions": items}), "r.json")


def test_a_baseline_may_lie_inside_of_its_scale(tmp_path: Path) -> None:
    text = with_one(scale={"least": -1, "most": 1, "whole": False}, baseline=0.25)
    (dimension,) = read_rubric(written(tmp_path, text, "r.json")).dimensions
    assert (dimension.accuses(0.2), dimension.accuses(0.25), dimension.accuses(0.3)) == (False, False, True)


def test_a_number_that_python_does_not_write_out_is_told_in_words(tmp_path: Path) -> None:
    hexadecimal = "0x" + "f" * 10_000
    assert "(a number of 10002 characters in line 1)" in refusal(tmp_path, f"- {{id: {hexadecimal}, text: a}}")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(key=st.sampled_from([*ONE, "guidance", "not_findings", "causes"]), value=JSON_VALUES)
def test_whatever_stands_in_a_dimension_it_is_read_or_refused_with_its_place(
    key: str, value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps({"version": "1", "dimensions": [ONE | {key: value}]}))
    refused = ""
    dimensions: tuple[Dimension, ...] = ()
    try:
        dimensions = read_rubric(path).dimensions
    except InputError as error:
        refused = str(error)
    assert bool(dimensions) != refused.startswith(f"{path}: dimensions[0]")
    for dimension in dimensions:
        assert dimension.scale.holds(dimension.baseline)
        assert dimension.accuses(dimension.scale.most) or dimension.accuses(dimension.scale.least)


# --- remarks


def remarks(*dimensions: Dimension) -> list[tuple[str | None, str, str]]:
    found = check_rubric(Rubric("r", (), "", "", dimensions, "1"))
    assert all(remark.criterion is None and remark.better for remark in found)
    return [(remark.dimension, remark.words, remark.wrong) for remark in found]


GOOD = Dimension(
    "loop", SEVERITY, 0, "higher", "It ran the same call again.", "0: never. 1: once. 2: twice. 3: more.", ("Polling.",)
)


def changed(**fields: Any) -> Dimension:
    return msgspec.structs.replace(GOOD, **fields)


def test_a_dimension_whose_values_are_told_apart_draws_no_remark() -> None:
    assert remarks(GOOD, changed(scale=RATIO, baseline=1, worse="lower", guidance="Useful calls over all.")) == []


@pytest.mark.parametrize(
    ("fields", "words", "wrong"),
    [
        ({"guidance": ""}, "no guidance", "nothing tells its values apart"),
        ({"guidance": "0: no. 1: 20 of 30 calls."}, "2, 3", "are values that the guidance does not tell apart"),
        ({"not_findings": ()}, "no not_findings", "what only looks like a finding will be taken for one"),
        ({"causes": ("slow tool",)}, "causes", "what fits none of them will be pressed into one"),
        (
            {"description": "The agent did not work properly."},
            "properly",
            "two people could read the same record and disagree",
        ),
    ],
)
def test_what_makes_two_readers_disagree_is_remarked(fields: dict[str, Any], words: str, wrong: str) -> None:
    assert remarks(changed(**fields)) == [("loop", words, wrong)]


def test_more_than_a_dozen_dimensions_are_remarked() -> None:
    assert remarks(*(changed(id=f"d{number}") for number in range(12))) == []
    assert [words for _, words, _ in remarks(*(changed(id=f"d{number}") for number in range(13)))] == ["13 dimensions"]


def test_remarks_on_criteria_name_no_dimension() -> None:
    (remark,) = check_rubric(Rubric("r", (Criterion("c1", "`a.py` is correct."),), "", ""))
    assert isinstance(remark, Remark)
    assert (remark.criterion, remark.dimension) == ("c1", None)
