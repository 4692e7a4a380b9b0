"""A small run, its judgment, and a way to change what is stored behind the store's back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.importers.build import RecordBuilder
from adjudge.judgment import Answer, Call, Judge, Judgment, Step, gate, score
from adjudge.record import Usage
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Outcome, Run
from adjudge.store.store import Store, open_store

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def run() -> Run:
    builder = RecordBuilder("chat")
    builder.message("user", "Count the files.")
    builder.respond(model="m", usage=Usage(prompt=100, output=10))
    builder.call("k1", "bash", {"command": "ls | wc -l"})
    builder.result("k1", "there are 12400 files", exit_status=0)
    builder.respond(usage=Usage(prompt=130, output=20))
    builder.message("agent", "I counted 12400 files.")
    helper = RecordBuilder("chat", prefix="s1.", label="helper")
    helper.message("agent", "The helper was here.")
    builder.children.append(helper.finish())
    return Run(
        "r-00112233aabbccdd",
        builder.finish(),
        "session.jsonl",
        task="\n  Count the files.  \nAll of them.",
        agent="codex",
        model="gpt",
        outcome=Outcome(exit_status=0, grade="resolved"),
    )


@pytest.fixture
def rubric() -> Rubric:
    criteria = (
        Criterion("counted", "`ls | wc -l` prints 12400 files"),
        Criterion("said", "The final message says how many files there are"),
        Criterion("notes", "`notes.txt` holds the count"),
    )
    return Rubric("files", criteria, rubric_hash(criteria), "files.yaml")


@pytest.fixture
def judgment(run: Run, rubric: Rubric) -> Judgment:
    looks = (
        Look("L1", "run", "command", {"command": "cat notes.txt"}, "count: 12399", ("exit status: 0",), exit_status=0),
    )
    answers = [
        Answer("counted", True, "Entry e3 shows it.", (Citation("e3", "there are 12400 files"),)),
        Answer("said", True, "It names the number.", (Citation("e4", "I counted 12400 files."),)),
        Answer("notes", False, "The file holds another number.", (Citation("L1", "count: 12399"),), "agent"),
    ]
    verdicts, _ = gate(rubric, answers, Exhibits(run.record, looks))
    assert [verdict.passed for verdict in verdicts] == [True, True, False]
    return Judgment(
        id="j-0a1b2c3d4e5f6071",
        run=run.id,
        rubric=rubric.name,
        rubric_hash=rubric.hash,
        judge=Judge("evaluator", "openrouter/some-model", "ab" * 32, {"looks": 40}, "0.1.0"),
        status="judged",
        started="2026-03-01T10:00:00+00:00",
        seconds=12.5,
        verdicts=verdicts,
        score=score(verdicts),
        summary="It counted.",
        decided="freely",
        looks=looks,
        steps=(Step("Judge this.", None, looks=("L1",)),),
        calls=(Call("some-model", Usage(prompt=2000, output=300, cost=0.0125), 3.0),),
    )


@pytest.fixture
def stored(store: Store, run: Run, rubric: Rubric, judgment: Judgment) -> Store:
    store.add_run(run)
    store.add_judgment(judgment, rubric)
    return store


class Forger:
    """Changes a store as someone would who knows its layout: with SQL, a JSON editor, zstd and sha256sum."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def sql(self, statement: str, *values: object) -> list[Any]:
        connection = sqlite3.connect(self.folder / "adjudge.db")
        with connection:
            found = connection.execute(statement, values).fetchall()
        connection.close()
        return found

    def blob(self, name: str) -> Path:
        return self.folder / "blobs" / name[:2] / f"{name}.zst"

    def name(self, table: str) -> str:
        return str(self.sql(f"SELECT blob FROM {table}")[0][0])

    def json(self, name: str) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(self.blob(name).read_bytes()))
        return value

    def forge(self, table: str, change: Change) -> None:
        """Change a blob, give it the name that fits, and point its row there."""
        value = self.json(self.name(table))
        change(value)
        data = zstandard.ZstdCompressor().compress(json.dumps(value).encode())
        name = hashlib.sha256(data).hexdigest()
        self.blob(name).parent.mkdir(exist_ok=True)
        self.blob(name).write_bytes(data)
        self.sql(f"UPDATE {table} SET blob = ?", name)


@pytest.fixture
def forger(stored: Store) -> Forger:
    return Forger(stored.folder)
