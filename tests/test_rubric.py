import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Rubric
from adjudge.rubric.reading import read_rubric
from adjudge.rubric.wording import check_rubric

YAML = """\
name: hello
criteria:
  - "`hello.txt` exists in the workspace."
  - id: greeting
    text: |
      `cat hello.txt` prints redline.
    probe: {run: cat hello.txt, stdout: "redline\\n"}
  - id: said
    text: The final message names hello.txt.
    about: answer
  - text: There is no file `tmp.txt`.
    probe: {file: tmp.txt, exists: false}
"""
TOML = """\
name = "hello"
criteria = [
  "`hello.txt` exists in the workspace.",
  {id = "greeting", text = "`cat hello.txt` prints redline.", probe = {run = "cat hello.txt", stdout = "redline\\n"}},
  {id = "said", text = "The final message names hello.txt.", about = "answer"},
  {text = "There is no file `tmp.txt`.", probe = {file = "tmp.txt", exists = false}},
]
"""
JSON = json.dumps(
    [
        "`hello.txt` exists in the workspace.",
        {
            "probe": {"stdout": "redline\n", "exit": 0, "run": "cat hello.txt"},
            "text": "`cat hello.txt` prints redline.",
            "id": "greeting",
        },
        {"id": "said", "text": "The final message names hello.txt.", "about": "answer"},
        {"id": "c4", "text": "There is no file `tmp.txt`.", "probe": {"file": "tmp.txt", "exists": False}},
    ]
)


def written(tmp_path: Path, text: str | bytes, name: str = "rubric.yaml") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(tmp_path: Path, text: str | bytes, name: str = "rubric.yaml") -> str:
    with pytest.raises(InputError) as error:
        read_rubric(written(tmp_path, text, name))
    assert str(error.value).startswith(str(tmp_path / name))
    return str(error.value).removeprefix(str(tmp_path / name) + ": ")


def test_a_rubric_is_read_as_it_was_written(tmp_path: Path) -> None:
    rubric = read_rubric(written(tmp_path, YAML))
    assert rubric.name == "hello"
    assert rubric.criteria == (
        Criterion("c1", "`hello.txt` exists in the workspace."),
        Criterion("greeting", "`cat hello.txt` prints redline.", CommandProbe("cat hello.txt", 0, "redline\n")),
        Criterion("said", "The final message names hello.txt.", about="answer"),
        Criterion("c4", "There is no file `tmp.txt`.", FileProbe("tmp.txt", exists=False)),
    )
    assert rubric.source == str(tmp_path / "rubric.yaml")


@pytest.mark.parametrize(
    ("text", "name"), [(TOML, "r.toml"), (JSON, "r.json"), (YAML, "r"), (TOML, "r.txt"), (JSON, "r.rubric")]
)
def test_the_same_criteria_have_one_hash_in_every_syntax(tmp_path: Path, text: str, name: str) -> None:
    rubric, other = read_rubric(written(tmp_path, YAML)), read_rubric(written(tmp_path, text, name))
    assert other.criteria == rubric.criteria
    assert other.hash == rubric.hash


def test_the_hash_is_a_sha_256_over_canonical_json(tmp_path: Path) -> None:
    canonical = '[{"id":"c1","text":"a.txt exists"}]'
    assert read_rubric(written(tmp_path, "- a.txt exists")).hash == hashlib.sha256(canonical.encode()).hexdigest()


@pytest.mark.parametrize(
    "changed",
    [
        YAML.replace("redline.", "blueline."),
        YAML.replace("id: said", "id: told"),
        YAML.replace("exists: false", "exists: true"),
        YAML.replace("about: answer", "about: result"),
    ],
)
def test_another_criterion_is_another_hash(tmp_path: Path, changed: str) -> None:
    assert read_rubric(written(tmp_path, changed)).hash != read_rubric(written(tmp_path, YAML, "b.yaml")).hash


def test_a_name_is_no_part_of_the_hash_and_is_the_file_s_if_none_is_given(tmp_path: Path) -> None:
    named = read_rubric(written(tmp_path, "name: x\ncriteria: [a.txt exists]"))
    unnamed = read_rubric(written(tmp_path, "[a.txt exists]", "mine.yaml"))
    assert (named.name, unnamed.name) == ("x", "mine")
    assert named.hash == unnamed.hash


def test_a_rubric_survives_storage(tmp_path: Path) -> None:
    rubric = read_rubric(written(tmp_path, YAML))
    assert msgspec.json.decode(msgspec.json.encode(rubric), type=Rubric) == rubric


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    windows = b"\xef\xbb\xbf" + YAML.replace("\n", "\r\n").encode()
    assert read_rubric(written(tmp_path, windows)).hash == read_rubric(written(tmp_path, YAML, "b.yaml")).hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("criteria: []", '"criteria" must be a list with at least one criterion, got a list with nothing in it'),
        ("", '"criteria" must be a list with at least one criterion, got nothing'),
        ("just text", '"criteria" must be a list with at least one criterion, got "just text"'),
        ("name: x", '"criteria" is missing; it must be a list of criteria'),
        ("critera: [a]", '"critera" is not known here; known are name, criteria'),
        ("name: 3\ncriteria: [a]", '"name" must be text, got 3; put it in quotes'),
        ("- {text: a, wieght: 2}", 'criteria[0]: "wieght" is not known here; known are id, text, probe, about'),
        ("- {id: a}", 'criteria[0]: "text" is missing; it must say what is true or false'),
        ("- ''", 'criteria[0]: "text" is empty; it must be text'),
        ("- {text: '  '}", 'criteria[0]: "text" is empty; it must be text'),
        ("- [a]", "criteria[0]: must be a text or a mapping with a text, got a list"),
        (
            "- {text: a, about: results}",
            'criteria[0]: "about" must be one of result, process, answer, account, got "results"',
        ),
        (
            "- {text: a, id: two words}",
            'criteria[0]: "id" must be letters, digits, "-", "_" and ".", at most 64, got "two words"',
        ),
        (
            "- {text: a, probe: {run: x, exit: zero}}",
            'criteria[0].probe: "exit" must be a whole number from 0 to 255, got "zero"',
        ),
        (
            "- {text: a, probe: {run: x, exit: true}}",
            'criteria[0].probe: "exit" must be a whole number from 0 to 255, got true',
        ),
        (
            "- {text: a, probe: {run: x, stdot: y}}",
            'criteria[0].probe: "stdot" is not known here; known are run, exit, stdout, ',
        ),
        ("- {text: a, probe: ls}", 'criteria[0].probe: must be a mapping with "run" or "file", got "ls"'),
        ("- {text: a, probe: {exit: 0}}", 'criteria[0].probe: must have either "run" (a command) or "file" (a path)'),
        (
            "- {text: a, probe: {run: a, file: b}}",
            'criteria[0].probe: must have either "run" (a command) or "file" (a path)',
        ),
        (
            "- {text: a, probe: {file: b}}",
            'criteria[0].probe: must say what holds of the file: "equals", "matches" or "exists"',
        ),
        (
            "- {text: a, probe: {file: b, equals: c, matches: d}}",
            "criteria[0].probe: 'equals' and 'matches' exclude each other; keep one, or write two criteria",
        ),
        (
            "- {text: a, probe: {run: b, live: 1}}",
            'criteria[0].probe: "live" must be true or false, got 1',
        ),
        (
            "- {text: a, probe: {run: b, stdout: c, stdout_matches: d}}",
            "criteria[0].probe: 'stdout' and 'stdout_matches' exclude each other; keep one, or write two criteria",
        ),
        ("- {text: a, probe: {file: b, exists: maybe}}", 'criteria[0].probe: "exists" must be true or false, got "maybe"'),
        (
            "- {text: a, probe: {file: /etc/passwd, exists: true}}",
            'criteria[0].probe: "file" must be a path inside of the workspace and relative to it, got "/etc/passwd"',
        ),
        (
            "- {text: a, probe: {file: b, matches: '('}}",
            'criteria[0].probe: "matches" is not a regular expression: missing )',
        ),
        ("- {text: a, probe: {run: 7}}", 'criteria[0].probe: "run" must be text, got 7; put it in quotes'),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_what_would_be_right(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


def test_an_id_belongs_to_one_criterion(tmp_path: Path) -> None:
    assert "criteria[2]: \"id\" 'a' is already that of criteria[0]" in refusal(
        tmp_path, "- {id: a, text: x}\n- y\n- {id: a, text: z}"
    )
    assert "criteria[1]: \"id\" 'c2' is already that of criteria[0]" in refusal(tmp_path, "- {id: c2, text: x}\n- y")


def test_a_hundred_criteria_are_enough(tmp_path: Path) -> None:
    assert len(read_rubric(written(tmp_path, json.dumps(["a.txt exists"] * 100))).criteria) == 100
    assert "has 101 criteria" in refusal(tmp_path, json.dumps(["a.txt exists"] * 101))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- {id: no, text: a}", 'criteria[0]: "id" must be text, got false; put it in quotes'),
        ("- {id: 1, text: a}", 'criteria[0]: "id" must be text, got 1; put it in quotes'),
        ("- {id: 1.10, text: a}", 'criteria[0]: "id" must be text, got 1.1; put it in quotes'),
        ("- 2024-01-01", "criteria[0]: must be a text or a mapping with a text, got 2024-01-01; put it in quotes"),
        ("- 2024-13-45", "has a value that YAML cannot read"),
        ("- 1" + ":59" * 200, "has a value that YAML cannot read (a number of 601 characters in line 1); put it in quotes"),
        ("- 1" + ":59" * 200 + ".5", "has a value that YAML cannot read (a number of 603 characters in line 1)"),
        ("- yes", "criteria[0]: must be a text or a mapping with a text, got true; put it in quotes"),
        ("- It prints: hello", 'criteria[0]: is read as a mapping because of ": " in it; put the whole text in quotes'),
        (
            "- ok\n- `cat a` prints b",
            "line 2: is not YAML: found character that cannot start any token; a text that starts with",
        ),
        ("- {text: a, text: b}", 'line 1: is not YAML: "text" is given twice'),
    ],
)
def test_the_traps_of_yaml_are_told(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ('[{"text": "a", "text": "b"}]', "r.json", '"text" is given twice in one mapping'),
        ('["a",]', "r.json", "line 1: is not JSON"),
        ("criteria = [", "r.toml", "is not TOML"),
        ("criteria = [1979-05-27]", "r.toml", "criteria[0]: must be a text or a mapping with a text, got 1979-05-27"),
        ("[" * 100_000, "r.json", "is nested too deeply"),
        ("[" * 100, "r.yaml", "line 1: is nested too deeply"),
        ("[" * 100_000, "r.yaml", "line 1: is "),
        ("a = " + "[" * 100_000, "r.toml", "is nested too deeply"),
        ("- &a x\n- *a", "r.yaml", "line 2: aliases (*a) are not read here; write the text out"),
        (
            "- !!python/object/apply:os.system [ls]",
            "r.yaml",
            "line 1: tags (tag:yaml.org,2002:python/object/apply:os.system)",
        ),
        ("- !!binary aGVsbG8=", "r.yaml", "line 1: tags (tag:yaml.org,2002:binary) are not read here"),
        ("- a\n---\n- b", "r.yaml", "line 2: is not YAML: but found another document"),
        (b"- caf\xe9", "r.yaml", "line 1: is not UTF-8 (byte 0xe9); save it as UTF-8"),
        ("- " + "x" * 1_000_000, "r.yaml", "is larger than 1000000 bytes"),
        ("- " + "x" * 4001, "r.yaml", 'criteria[0]: "text" has 4001 characters; at most 4000 are read'),
        ("- " + "9" * 10_000, "r.yaml", "has a value that YAML cannot read"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, text: str | bytes, name: str, message: str) -> None:
    assert refusal(tmp_path, text, name).startswith(message)


def test_an_alias_bomb_is_refused_before_it_is_built(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "\n".join(f"{b}: &{b} [*{a}, *{a}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    assert "aliases (*a) are not read here" in refusal(tmp_path, bomb)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: cannot be read: No such file"):
        read_rubric(tmp_path / "nowhere.yaml")


def remarks(*texts: str) -> list[tuple[str | None, str, str]]:
    rubric = Rubric("r", tuple(Criterion(f"c{at}", text) for at, text in enumerate(texts, 1)), "", "")
    return [(remark.criterion, remark.words, remark.wrong) for remark in check_rubric(rubric)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The code in `a.py` is clean and well structured.", "clean, well"),
        ("The bug in `a.py` is fixed properly.", "is fixed, properly"),
        ("The diff of `a.py` is minimal.", "minimal"),
        ("`a.py` handles errors gracefully.", "gracefully"),
        ("`make demo` works as expected.", "works, as expected"),
        ("`f()` should return the right value.", "should"),
        ("The tests in `tests/` are robust.", "robust"),
        ("`a.py` follows best practices.", "best practices"),
        ("`sort_items` is correct.", "correct"),
        ("The report in `r.md` is of good quality.", "good, quality"),
    ],
)
def test_vague_words_are_remarked(text: str, words: str) -> None:
    assert [(found, wrong) for _, found, wrong in remarks(text)] == [
        (words, "two people could look at the same thing and disagree")
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`pytest` passes and the `README.md` is updated.", "and the § is"),
        ("`a.txt` exists; `b.txt` does not.", ";"),
        ("Both `a` and `b` exit with status 0.", "Both"),
        ("`make` exits with status 0. The log of it is empty.", ". The"),
    ],
)
def test_several_facts_in_one_are_remarked(text: str, words: str) -> None:
    assert [found for _, found, wrong in remarks(text) if wrong.startswith("holds several facts")] == [words]


@pytest.mark.parametrize("text", ["The output looks right.", "Documentation was added.", "The agent tested its changes."])
def test_a_criterion_that_names_nothing_is_remarked(text: str) -> None:
    assert ("c1", text, "names no file, command, tool or number to look at") in remarks(text)


def test_more_than_a_dozen_criteria_are_remarked() -> None:
    assert remarks(*["`a` exits with status 0."] * 12) == []
    assert remarks(*["`a` exits with status 0."] * 13) == [
        (None, "13 criteria", "are more than an evaluator can establish within its looks")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "In the workspace root, `python3 -m unittest discover` exits with status 0.",
        "`git diff --name-only` in the workspace lists `a.py` and no other file.",
        "The listening socket of `run.sh` is bound to 127.0.0.1 and not to all addresses.",
        "The final message says that the deployment failed.",
        "`README.md` contains the text 'is fixed properly'.",
        "The working tree is clean after `git stash`.",
        "The record shows an answer from the service on the path /health.",
        "After `add('a')`, `add('b')` and `undo()` on a new Store, its `items` are `['a']`.",
        "The README.md as well-known file lists port 8080.",
    ],
)
def test_a_criterion_that_can_be_looked_up_draws_no_remark(text: str) -> None:
    assert remarks(text) == []


def test_what_a_probe_decides_needs_no_remark() -> None:
    rubric = Rubric("r", (Criterion("c1", "It works well.", CommandProbe("true")),), "", "")
    assert check_rubric(rubric) == ()
