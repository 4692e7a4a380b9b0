"""Every example file on the pages is read by its reader, and each that is refused brings the error shown."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents.connection_file import read_connection
from adjudge.agents.tasks import read_task
from adjudge.errors import InputError
from adjudge.importers.folder_file import read_description
from adjudge.rubric.reading import read_rubric

from .pages import DOCS, Block, blocks, name_of, pages

Example = tuple[str, Block]


def unmarked(page: Path, *languages: str) -> Iterable[Block]:
    """Blocks of these languages that show what is right: those without a mark, and those written into a file."""
    return (block for block in blocks(page) if block.language in languages and block.marked("refused") is None)


def refused() -> list[tuple[str, str, str]]:
    """The name, the text and the error of every file that a page says is refused."""
    found = []
    for page in pages():
        for block, following in itertools.pairwise(blocks(page)):
            if name := block.marked("refused"):
                assert following.language == "text", f"{name_of(page)}:{block.line}: no error is shown"
                found.append((name, block.text, following.text.strip()))
    return found


RUBRICS = [
    (name, block)
    for page in (DOCS / "reference/rubric.md", DOCS / "how-to/rubric.md", DOCS / "how-to/dimensions.md")
    for block in unmarked(page, "yaml", "toml", "json")
    for name in [f"rubric.{block.language}"]
]


@pytest.mark.parametrize(("name", "block"), RUBRICS)
def test_each_rubric_on_the_pages_is_read(name: str, block: Block, tmp_path: Path) -> None:
    (tmp_path / name).write_text(block.text)
    rubric = read_rubric(tmp_path / name)
    assert rubric.criteria or rubric.dimensions


def test_one_rubric_has_one_hash_whatever_its_syntax(tmp_path: Path) -> None:
    hashes = set()
    for block in list(unmarked(DOCS / "reference/rubric.md", "yaml", "toml", "json"))[:3]:
        path = tmp_path / f"rubric.{block.language}"
        path.write_text(block.text)
        hashes.add(read_rubric(path).hash)
    assert len(hashes) == 1
    assert len(list(tmp_path.iterdir())) == 3


def test_the_run_yaml_of_the_reference_is_read(tmp_path: Path) -> None:
    (block,) = unmarked(DOCS / "reference/run-yaml.md", "yaml")
    (tmp_path / "run.yaml").write_text(block.text)
    for file in ("task.md", "trajectory.json", "change.diff"):
        (tmp_path / file).write_text(file)
    (tmp_path / "workspace").mkdir()
    described = read_description(tmp_path / "run.yaml")
    assert (described.task, described.outcome.grade, described.patch) == ("task.md", "resolved", "change.diff")


def test_the_task_of_the_reference_is_read(tmp_path: Path) -> None:
    (block,) = unmarked(DOCS / "reference/task.md", "yaml")
    (tmp_path / "task.yaml").write_text(block.text)
    (tmp_path / "rubric.yaml").write_text("- The tests pass.\n")
    for folder in ("workspace", "hidden"):
        (tmp_path / folder).mkdir()
    task = read_task(tmp_path)
    assert (task.name, task.machine.folder, task.limits.memory) == ("The mean", tmp_path / "workspace", 2 << 30)


def test_the_connection_of_the_guide_is_read(tmp_path: Path) -> None:
    (block,) = unmarked(DOCS / "how-to/new-agent.md", "yaml")
    (tmp_path / "my-agent.yaml").write_text(block.text)
    assert read_connection(tmp_path / "my-agent.yaml").name == "my-agent"


READERS: dict[str, Any] = {"run.yaml": read_description, "task.yaml": read_task, "agent.yaml": read_connection}


@pytest.mark.parametrize(("name", "text", "error"), refused())
def test_what_is_refused_brings_the_error_shown(
    name: str, text: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    Path("task.md").write_text("Write hello.txt.")
    read = READERS.get(name, read_rubric)
    with pytest.raises(InputError) as raised:
        read(Path(name))
    assert str(raised.value).replace(str(tmp_path.resolve()), "FOLDER") == error


def test_the_importer_of_the_guide_imports(tmp_path: Path) -> None:
    (block,) = (block for block in blocks(DOCS / "how-to/new-format.md") if block.language == "python")
    names: dict[str, Any] = {}
    exec(compile(block.text, "new-format.md", "exec"), names)  # our own page
    rows = [
        {"who": "user", "text": "Count the lines."},
        {"who": "model", "text": "wc -l a.txt", "call": "1", "model": "m"},
        {"who": "tool", "text": "3 a.txt", "call": "1", "exit": 0},
        {"who": "clock", "text": "12:00"},
        {"who": "model", "text": "Three."},
    ]
    path = tmp_path / "dialogue.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "broken\n")
    importer = names["Dialogues"]()
    assert importer.recognises(path, path.read_bytes())
    (run,) = importer.runs(path)
    told = [(entry.kind, entry.writer, entry.answers, entry.exit_status) for entry in run.record.entries]
    assert told == [
        ("message", "user", None, None),
        ("call", "agent", None, None),
        ("result", "tool", "e2", 0),
        ("message", "agent", None, None),
    ]
    assert (run.task, run.model, run.record.final) == ("Count the lines.", "m", "e4")
    assert (run.record.used, run.record.skipped, len(run.record.unparsed)) == (4, {"clock": 1}, 1)
